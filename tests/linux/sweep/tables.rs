//! The tables of `testdata/sweep/tables.txt`: cases that are not compared, and those that are known
//! to differ, each with its reason.

use std::fs;
use std::path::Path;

/// Values of an argument of a call.
pub struct Place {
    /// The call with its label; after it, `/*` stands for every label.
    call: String,
    /// The number of the argument.
    argument: String,
    /// The values; `*` is every value.
    values: Vec<String>,
}

impl Place {
    /// Tells if a value of an argument of a call is one of them.
    pub fn has(&self, call: &str, argument: &str, value: &str) -> bool {
        let of_call = call == self.call || call.split('/').next() == self.call.strip_suffix("/*");
        let of_value = |listed: &String| listed == "*" || listed == value;
        of_call && self.argument == argument && self.values.iter().any(of_value)
    }

    /// Each value as a place of its own.
    pub fn singly(&self) -> impl Iterator<Item = Place> {
        self.values.iter().map(|value| Place {
            call: self.call.clone(),
            argument: self.argument.clone(),
            values: vec![value.clone()],
        })
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.call, self.argument, self.values.join("; "))
    }
}

/// All three.
#[derive(Default)]
pub struct Tables {
    /// Calls that no case makes.
    pub not_called: Vec<String>,
    /// What Linux leaves open, or what depends on the machine or on what else it does.
    pub left_out: Vec<Place>,
    /// What Linux and cgemu answer differently.
    pub different: Vec<Place>,
}

/// Reads the file: a heading in brackets for each table, then reasons, each with its lines below.
pub fn read() -> Tables {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/sweep/tables.txt");
    let text = fs::read_to_string(&path).expect("testdata/sweep/tables.txt");
    let mut tables = Tables::default();
    let (mut heading, mut reason) = ("", "");
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if line.starts_with('[') {
            (heading, reason) = (line, "");
        } else if let Some(entry) = line.strip_prefix("    ") {
            assert!(!reason.is_empty(), "{line}: under no reason");
            let mut words = entry.splitn(3, ' ');
            let mut next = || words.next().unwrap_or_default().to_owned();
            let (call, argument, values) = (next(), next(), next());
            let values = values.split("; ").map(str::to_owned).collect();
            match heading {
                "[not called]" => tables.not_called.push(call),
                "[left out]" => tables.left_out.push(Place { call, argument, values }),
                "[different]" => tables.different.push(Place { call, argument, values }),
                _ => panic!("{line}: under no heading"),
            }
        } else {
            reason = line;
        }
    }
    tables
}
