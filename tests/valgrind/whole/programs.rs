//! The programs, what they work on, and why some of them are not counted alike.

/// When a program is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// Always: it is fast, and every Debian system has it or `./test` installs it.
    Always,
    /// Where CGEMU_WHOLE is `all` or asks for it.
    Asked,
    /// Where CGEMU_WHOLE asks for it by name: it takes minutes.
    Large,
}

/// Why functions are not counted alike; docs/whole-programs.md explains the name.
pub struct Reason {
    pub name: &'static str,
    /// The functions that may differ; none means that all may, a little.
    pub functions: &'static [&'static str],
}

/// One program on one input.
pub struct Program {
    pub name: &'static str,
    pub tier: Tier,
    /// Run by `sh -e` in the empty directory of all inputs; `$SOURCES` is testdata/whole.
    pub setup: &'static str,
    /// The command; `cc1` is where gcc has it.
    pub command: &'static [&'static str],
    /// Variables besides the fixed ones: what makes a run repeatable under Valgrind too.
    pub env: &'static [(&'static str, &'static str)],
    pub reasons: &'static [Reason],
}

impl Program {
    /// The command, with the paths that only the host knows.
    pub fn words(&self) -> Vec<String> {
        let path = |word: &&str| match *word {
            "cc1" => {
                let out =
                    crate::common::tool("gcc", std::path::Path::new("."), "gcc", &["-print-prog-name=cc1"]);
                crate::common::stdout(&out).trim().to_owned()
            }
            word => word.to_owned(),
        };
        self.command.iter().map(path).collect()
    }
}

const LINES: &str = "/usr/bin/mawk 'BEGIN { s = 7; for (i = 0; i < 20000; i++) { s = (s * 16807) % 2147483647; \
                     print s % 100000, \"word\" i, substr(\"abcdefgh\", 1, i % 8) } }' > lines";

const NOTHING: Program =
    Program { name: "", tier: Tier::Asked, setup: "", command: &[], env: &[], reasons: &[] };

pub const PROGRAMS: &[Program] = &[
    Program {
        name: "static C program",
        tier: Tier::Always,
        setup: "gcc -O2 -g -static -o static \"$SOURCES/library.c\"",
        command: &["./static"],
        ..NOTHING
    },
    Program {
        name: "dynamic C program",
        tier: Tier::Always,
        setup: "gcc -O2 -g -o dynamic \"$SOURCES/library.c\"",
        command: &["./dynamic"],
        ..NOTHING
    },
    Program {
        name: "addresses, musl",
        tier: Tier::Always,
        setup: "musl-gcc -O1 -static -o places.musl \"$SOURCES/places.c\"",
        command: &["./places.musl", "an argument"],
        ..NOTHING
    },
    Program {
        name: "C++ program",
        tier: Tier::Always,
        setup: "g++ -O2 -g -std=c++17 -o c++ \"$SOURCES/library.cpp\"",
        command: &["./c++"],
        ..NOTHING
    },
    Program {
        name: "addresses, static",
        tier: Tier::Always,
        setup: "gcc -O1 -static -o places.static \"$SOURCES/places.c\"",
        command: &["./places.static", "an argument"],
        ..NOTHING
    },
    Program {
        name: "addresses, static PIE",
        tier: Tier::Always,
        setup: "gcc -O1 -static-pie -o places.static-pie \"$SOURCES/places.c\"",
        command: &["./places.static-pie", "an argument"],
        ..NOTHING
    },
    Program {
        name: "addresses, PIE",
        tier: Tier::Always,
        setup: "gcc -O1 -pie -o places.pie \"$SOURCES/places.c\"",
        command: &["./places.pie", "an argument"],
        ..NOTHING
    },
    Program {
        name: "addresses, no PIE",
        tier: Tier::Always,
        setup: "gcc -O1 -no-pie -o places.no-pie \"$SOURCES/places.c\"",
        command: &["./places.no-pie", "an argument"],
        ..NOTHING
    },
    Program {
        name: "gzip",
        tier: Tier::Always,
        setup: LINES,
        command: &["/usr/bin/gzip", "-nc", "lines"],
        ..NOTHING
    },
    Program {
        name: "sort",
        tier: Tier::Always,
        // How much memory the machine has is not asked for.
        command: &["/usr/bin/sort", "-S4M", "lines"],
        ..NOTHING
    },
    Program {
        name: "perl",
        tier: Tier::Always,
        command: &[
            "/usr/bin/perl",
            "-e",
            "open F, 'lines'; while (<F>) { my @a = split; $h{$a[0] % 100} .= $a[1]; $n++ if /7.*b/ } \
             print \"$n\\n\", join(' ', sort { $a <=> $b } keys %h), \"\\n\"",
        ],
        env: &[("PERL_HASH_SEED", "0")],
        ..NOTHING
    },
    Program {
        name: "mawk",
        tier: Tier::Always,
        command: &[
            "/usr/bin/mawk",
            "{ n[$1 % 50] += length($2) } END { for (i in n) print i, n[i] }",
            "lines",
        ],
        ..NOTHING
    },
    Program {
        name: "busybox sed",
        command: &["/bin/busybox", "sed", "-E", "s/([a-z]+)([0-9]+)/\\2\\1/;/99/d", "lines"],
        ..NOTHING
    },
    Program {
        name: "sqlite3",
        setup: "printf '%s\\n' 'CREATE TABLE t(a INTEGER, b TEXT, c REAL);' \
                'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<3000) \
                 INSERT INTO t SELECT i, printf(\"name-%05d\", (i*7919)%100000), i*0.5 FROM n;' \
                'CREATE INDEX ib ON t(b);' \
                'SELECT count(*), sum(c), max(b) FROM t WHERE b LIKE \"name-1%\";' \
                'SELECT a%97, count(*), avg(c) FROM t GROUP BY 1 ORDER BY 2 DESC LIMIT 5;' > q.sql",
        command: &["/usr/bin/sqlite3", ":memory:", ".read q.sql"],
        ..NOTHING
    },
    Program {
        name: "jq",
        setup: "/usr/bin/mawk 'BEGIN { printf \"[\"; for (i = 1; i <= 3000; i++) \
                printf \"%s{\\\"id\\\":%d,\\\"v\\\":[%d,%d],\\\"s\\\":\\\"k%d\\\"}\", (i > 1 ? \",\" : \"\"), i, i % 7, \
                i % 11, i % 50; print \"]\" }' > i.json",
        command: &[
            "/usr/bin/jq",
            "-c",
            "group_by(.s)[] | {s: .[0].s, n: length, t: (map(.v|add)|add)}",
            "i.json",
        ],
        ..NOTHING
    },
    Program {
        name: "cc1",
        setup: "/usr/bin/mawk 'BEGIN { for (i = 0; i < 12; i++) { printf \"int f%d(int a,int*b,double c){int s=a;\
                for(int i=0;i<a;i++){s+=b[i]*%d;if(s>%d)s^=b[i&7];switch(s&3){case 0:s+=3;break;\
                case 1:s-=(int)c;break;default:s*=2;}}return s;}\\n\", i, i % 17 + 1, i * 3 } }' > big.c; \
                gcc -O2 -S big.c",
        command: &["cc1", "-quiet", "-frandom-seed=1", "-O2", "big.c", "-o", "/dev/null"],
        ..NOTHING
    },
    Program { name: "as", command: &["/usr/bin/as", "big.s", "-o", "/dev/null"], ..NOTHING },
    Program { name: "bzip2", command: &["/usr/bin/bzip2", "-c", "lines"], ..NOTHING },
    Program { name: "xz", command: &["/usr/bin/xz", "-T1", "-3", "-c", "lines"], ..NOTHING },
    Program { name: "sha256sum", command: &["/usr/bin/sha256sum", "lines"], ..NOTHING },
    Program {
        name: "openssl",
        command: &["/usr/bin/openssl", "dgst", "-sha256", "lines"],
        // What the tunables say, for libcrypto: no XSAVE, OSXSAVE, AVX; AVX2, BMI1, BMI2.
        env: &[("OPENSSL_ia32cap", "~0x1c00000000000000:~0x128")],
        ..NOTHING
    },
    Program { name: "git", command: &["/usr/bin/git", "hash-object", "lines"], ..NOTHING },
    Program {
        name: "bc",
        setup: "echo 'scale=300; 4*a(1)' > pi.bc",
        command: &["/usr/bin/bc", "-lq", "pi.bc"],
        ..NOTHING
    },
    Program { name: "file", command: &["/usr/bin/file", "i.json", "/bin/sort"], ..NOTHING },
    Program {
        name: "bash",
        command: &[
            "/usr/bin/bash",
            "--norc",
            "-c",
            "for ((i = 0; i < 3000; i++)); do x[i % 70]+=$((i * 7)); done; echo ${x[3]} ${#x[@]}",
        ],
        reasons: &[Reason {
            name: "who-and-where",
            functions: &["fmtumax", "gethostname", "__strcpy_sse2_unaligned"],
        }],
        ..NOTHING
    },
    Program {
        name: "grep",
        command: &["/usr/bin/grep", "-cE", "word[0-9]*7 ab?c", "lines"],
        reasons: &[Reason { name: "proc-maps", functions: &["???", "read"] }],
        ..NOTHING
    },
    Program {
        name: "gawk",
        command: &[
            "/usr/bin/gawk",
            "{ n[$1 % 50] += length($2) } END { for (i in n) print i, n[i] }",
            "lines",
        ],
        reasons: &[Reason { name: "proc-maps", functions: &["???", "read", "sigsegv_get_vma"] }],
        ..NOTHING
    },
    Program {
        name: "sed",
        command: &["/usr/bin/sed", "-E", "s/([a-z]+)([0-9]+)/\\2\\1/;/99/d", "lines"],
        reasons: &[Reason { name: "proc-filesystems", functions: &[] }],
        ..NOTHING
    },
    Program {
        name: "python3",
        setup: "printf '%s\\n' 'import json, re' \
                'd = [{\"a\": i, \"b\": str(i * 7)} for i in range(2000)]' 's = json.dumps(d)' \
                'print(len(s), sum(x[\"a\"] for x in json.loads(s)), len(re.findall(\"7+\", s)))' > numbers.py",
        command: &["/usr/bin/python3", "-SEs", "numbers.py"],
        env: &[("PYTHONHASHSEED", "0"), ("PYTHONDONTWRITEBYTECODE", "1")],
        reasons: &[
            Reason { name: "directory-order", functions: &[] },
            Reason { name: "signal-64", functions: &[] },
        ],
        ..NOTHING
    },
    Program {
        name: "cc1, large",
        tier: Tier::Large,
        setup: "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do sed \"s/ f/ g${n}_/\" big.c; done > large.c",
        command: &["cc1", "-quiet", "-frandom-seed=1", "-O2", "large.c", "-o", "/dev/null"],
        ..NOTHING
    },
    Program {
        name: "jq, large",
        tier: Tier::Large,
        setup: "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do cat i.json; done > large.json",
        command: &[
            "/usr/bin/jq",
            "-sc",
            "flatten|group_by(.s)[]|{s:.[0].s,n:length,t:(map(.v|add)|add)}",
            "large.json",
        ],
        ..NOTHING
    },
    Program {
        name: "sort, large",
        tier: Tier::Large,
        setup: "for n in 1 2 3 4 5 6 7 8 9 10; do sed \"s/^/$n/\" lines; done > large",
        command: &["/usr/bin/sort", "-nS64M", "large"],
        ..NOTHING
    },
    Program {
        name: "sqlite3, large",
        tier: Tier::Large,
        // Names of temporary files are random.
        setup: "(echo 'PRAGMA temp_store=MEMORY;'; sed 's/i<3000/i<100000/' q.sql) > large.sql",
        command: &["/usr/bin/sqlite3", ":memory:", ".read large.sql"],
        ..NOTHING
    },
];
