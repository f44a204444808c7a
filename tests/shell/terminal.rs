//! What a run looks like on a terminal, seen through a pseudo-terminal.

use crate::common::pty::Terminal;
use crate::common::{stderr, tool};

/// Prints the beginning of a line, its end, another, each after a while.
const SLOW: &str = r#"
#include <unistd.h>
static void work(void) { for (volatile long i = 0; i < 400000000; i++) ; }
int main(void)
{
    write(1, "one, ", 5);
    work();
    write(1, "two\n", 4);
    work();
    write(1, "three\n", 6);
    return 0;
}
"#;

#[test]
fn the_progress_line_leaves_nothing_behind() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("slow.c"), SLOW).expect("written");
    let built = tool("gcc", dir.path(), "gcc", &["-O1", "-o", "slow", "slow.c"]);
    assert!(built.status.success(), "{}", stderr(&built));
    let terminal = Terminal::cgemu(dir.path(), &["run", "--cachegrind-out-file=/dev/null", "--", "./slow"]);
    let line = terminal.wait_for(0, "one, ");
    let end = terminal.wait_for(line, "two");
    assert!(!terminal.printed()[line..end].contains("M instructions"), "a line of the guest was used");
    let (three, printed) = (terminal.wait_for(end, "three"), terminal.printed());
    assert!(printed[end..three].contains("M instructions"), "no progress shown: {printed:?}");
    let (screen, status) = terminal.finish();
    assert!(status.success());
    assert!(screen.contains("one, two\nthree\n"), "{screen}");
    assert!(!screen.contains("M instructions"), "{screen}");
}

#[test]
fn ctrl_c_takes_the_progress_line_away() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("loop.c"), "int main(void) { for (;;) ; }\n").expect("written");
    let built = tool("gcc", dir.path(), "gcc", &["-O0", "-o", "loop", "loop.c"]);
    assert!(built.status.success(), "{}", stderr(&built));
    let mut terminal =
        Terminal::cgemu(dir.path(), &["run", "--cachegrind-out-file=/dev/null", "--", "./loop"]);
    terminal.wait_for(0, "M instructions so far");
    terminal.type_in("\x03");
    let (screen, status) = terminal.finish();
    assert_eq!(status.code(), Some(130), "{screen}");
    assert!(!screen.contains("M instructions") && screen.contains("Ended by signal 2 (SIGINT)"), "{screen}");
}
