//! Programs to measure.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The caches, the same everywhere.
pub const GEOMETRY: [&str; 3] = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64"];

/// One program on one input.
pub struct Workload {
    pub name: &'static str,
    /// Run by `sh` in the work directory to make the input.
    setup: &'static str,
    pub command: &'static [&'static str],
}

const WORKLOADS: &[Workload] = &[
    Workload { name: "true", setup: ":", command: &["/bin/true"] },
    Workload {
        name: "mix",
        setup: "gcc -O2 -static -nostdlib -fno-pie -no-pie -fno-stack-protector -fno-builtin -DROUNDS=20 \
                -o mix \"$SOURCES/mix.c\"",
        command: &["./mix"],
    },
    Workload {
        name: "sqlite3",
        setup: "printf '%s\\n' 'CREATE TABLE t(a INTEGER, b TEXT, c REAL);' \
                'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<40000) \
                 INSERT INTO t SELECT i, printf(\"name-%05d\", (i*7919)%40000), i*0.5 FROM n;' \
                'CREATE INDEX ib ON t(b);' \
                'SELECT count(*), sum(c), max(b) FROM t WHERE b LIKE \"name-1%\";' \
                'SELECT a%97, count(*), avg(c) FROM t GROUP BY 1 ORDER BY 2 DESC LIMIT 5;' \
                'SELECT count(*) FROM t x JOIN t y ON x.b=y.b WHERE x.a%3=0;' > q.sql",
        command: &["/usr/bin/sqlite3", ":memory:", ".read q.sql"],
    },
    Workload {
        name: "jq",
        setup: "awk 'BEGIN{printf \"[\"; for(i=1;i<=12000;i++) printf \"%s{\\\"id\\\":%d,\\\"v\\\":[%d,%d],\\\"s\\\":\\\"k%d\\\"}\", \
                (i>1?\",\":\"\"), i, i%7, i%11, i%50; print \"]\"}' > i.json",
        command: &[
            "/usr/bin/jq",
            "-c",
            "group_by(.s)[] | {s: .[0].s, n: length, t: (map(.v|add)|add)}",
            "i.json",
        ],
    },
    Workload {
        name: "cc1",
        setup: "awk 'BEGIN{for(i=0;i<20;i++){printf \"int f%d(int a,int*b,double c){int s=a;for(int i=0;i<a;i++)\
                {s+=b[i]*%d;if(s>%d)s^=b[i&7];switch(s&3){case 0:s+=3;break;case 1:s-=(int)c;break;default:s*=2;}}\
                return s;}\\n\",i,i%17+1,i*3}}' > big.c; ln -s \"$(gcc -print-prog-name=cc1)\" cc1",
        command: &["./cc1", "-quiet", "-O2", "big.c", "-o", "big.s"],
    },
    Workload {
        name: "gzip",
        setup: "awk 'BEGIN{for(i=1;i<=60000;i++) printf \"%d the quick brown fox %d %s\\n\", i*7919, i%977, (i%3?\"jumps\":\"sleeps\")}' > text",
        command: &["/usr/bin/gzip", "-9", "-c", "text"],
    },
    Workload {
        name: "sort",
        setup: "awk 'BEGIN{for(i=1;i<=120000;i++) printf \"%d key%d\\n\", i*7919%1000003, i*31%977}' > lines",
        command: &["/usr/bin/sort", "-n", "--parallel=1", "lines"],
    },
    Workload {
        name: "xz",
        setup: "awk 'BEGIN{for(i=1;i<=60000;i++) printf \"%d the quick brown fox %d %s\\n\", i*7919, i%977, (i%3?\"jumps\":\"sleeps\")}' > text",
        command: &["/usr/bin/xz", "-1", "-T1", "-c", "text"],
    },
    Workload {
        name: "threads",
        setup: "awk 'BEGIN{for(i=1;i<=60000;i++) printf \"%d the quick brown fox %d %s\\n\", i*7919, i%977, (i%3?\"jumps\":\"sleeps\")}' > text",
        command: &["/usr/bin/xz", "-1", "-T4", "--block-size=256KiB", "-c", "text"],
    },
    Workload {
        name: "perl",
        setup: "awk 'BEGIN{for(i=1;i<=30000;i++) printf \"%d word%d %s\\n\", i*9109%65537, i, (i%3?\"ab\":\"a\")}' > lines; \
                echo 'while (<>) { my @a = split; $h{$a[0] % 100} .= $a[1]; $n++ if /7.*b/ } print \"$n\\n\", sort keys %h' > p.pl",
        command: &["/usr/bin/perl", "p.pl", "lines"],
    },
    Workload { name: "python3", setup: ":", command: &["/usr/bin/python3", "-SEsc", "pass"] },
    // 102 processes: each of the small programs 17 times.
    Workload {
        name: "script",
        setup: "echo 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do \
                seq $i 300 | sed s/1/x/ | grep x | cut -c1-3 | sort -r | head -n 3; done' > script",
        command: &["/bin/sh", "script"],
    },
    Workload {
        name: "make",
        setup: "for i in 1 2; do printf '#include <stdio.h>\\nint f%d(FILE *f, int n) { int s = %d; \
                for (int i = 0; i < n; i++) s += i * fputc(i %% (n + 1), f); return s; }\\n' $i $i > f$i.c; done; \
                echo 'int main(void) { return 0; }' > main.c; \
                printf 'prog: $(patsubst %%.c,%%.o,$(wildcard *.c))\\n\\tgcc -o $@ $^\\n%%.o: %%.c\\n\\tgcc -O2 -c $<\\n' \
                > Makefile",
        command: &["/usr/bin/make", "-s", "-B", "prog"],
    },
];

impl Workload {
    /// Makes a directory with the program's input.
    pub fn prepare(&self, scratch: &Path) -> PathBuf {
        let directory = scratch.join(self.name);
        std::fs::create_dir(&directory).expect("a work directory");
        let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/bench");
        let setup = Command::new("sh")
            .args(["-c", self.setup])
            .env("SOURCES", sources)
            .current_dir(&directory)
            .status();
        assert!(setup.is_ok_and(|status| status.success()), "{}: its input cannot be made", self.name);
        directory
    }
}

/// The number of rounds and the programs that the command line asks for.
pub fn asked(usual: usize) -> (usize, Vec<&'static Workload>) {
    let mut args = std::env::args().skip(1).filter(|arg| !arg.starts_with("--"));
    let rounds =
        args.next().map_or(usual, |arg| arg.parse().expect("the first argument is a number of rounds"));
    let wanted: Vec<String> = args.collect();
    let is_wanted = |w: &&Workload| wanted.is_empty() || wanted.iter().any(|name| name == w.name);
    (rounds, WORKLOADS.iter().filter(is_wanted).collect())
}
