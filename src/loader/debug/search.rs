//! Where debug files are looked for.
