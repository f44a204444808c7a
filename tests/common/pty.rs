//! A terminal for the tests: a pseudo-terminal whose screen can be read and on which can be typed.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::num::NonZero;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use super::patience::{self, Patience};

/// How long anything may take to appear.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command at work on a terminal of its own.
pub struct Terminal {
    master: File,
    child: Child,
    seen: Arc<Mutex<Seen>>,
    reader: Option<JoinHandle<()>>,
}

struct Seen {
    screen: vt100::Parser,
    /// Everything that was printed.
    bytes: Vec<u8>,
}

fn cells(count: u16) -> NonZero<u16> {
    NonZero::new(count).expect("a size")
}

impl Terminal {
    /// Starts `cgemu` with these words on a terminal of 24 rows and 100 columns.
    pub fn cgemu(directory: &Path, words: &[&str]) -> Terminal {
        Terminal::start(directory, words, None)
    }

    /// As [`Terminal::cgemu`], with standard output elsewhere.
    pub fn cgemu_writing_to(directory: &Path, words: &[&str], output: impl Into<Stdio>) -> Terminal {
        Terminal::start(directory, words, Some(output.into()))
    }

    fn start(directory: &Path, words: &[&str], output: Option<Stdio>) -> Terminal {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        let master = openpt(flags).expect("a pseudo-terminal");
        grantpt(&master).expect("grantpt");
        unlockpt(&master).expect("unlockpt");
        let size = Winsize { ws_row: 24, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).expect("a size");
        let name = ptsname(&master, Vec::new()).expect("a name").into_string().expect("ASCII");
        let slave = File::options().read(true).write(true).open(&name).expect("the other end");
        let stream = || slave.try_clone().expect("a copy");
        // setsid makes it the terminal that Ctrl-C is typed on.
        let mut command = Command::new("setsid");
        // Who runs the tests may have signals ignored.
        command.args(["--ctty", "--wait", "env", "--default-signal", env!("CARGO_BIN_EXE_cgemu")]);
        command.args(words).current_dir(directory);
        command.env("TERM", "xterm").env_remove("NO_COLOR");
        let output = output.unwrap_or_else(|| stream().into());
        command.stdin(stream()).stdout(output).stderr(stream());
        let child = match command.spawn() {
            Ok(child) => child,
            Err(error) => panic!("setsid: {error}; install it with: apt-get install util-linux"),
        };
        let master = File::from(master);
        let screen = vt100::Parser::new(cells(24), cells(100), 0);
        let seen = Arc::new(Mutex::new(Seen { screen, bytes: Vec::new() }));
        let (mut from, to) = (master.try_clone().expect("a copy"), Arc::clone(&seen));
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // A terminal whose last user is gone reports an error.
            while let Ok(count @ 1..) = from.read(&mut buffer) {
                let mut seen = to.lock().expect("the screen");
                seen.screen.process(&buffer[..count]);
                seen.bytes.extend(&buffer[..count]);
            }
        });
        drop(slave);
        Terminal { master, child, seen, reader: Some(reader) }
    }

    /// Types something.
    pub fn type_in(&mut self, text: &str) {
        self.master.write_all(text.as_bytes()).expect("typing");
    }

    /// Changes the size.
    pub fn resize(&mut self, rows: u16, columns: u16) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(self.master.as_fd(), size).expect("a size");
        self.seen.lock().expect("the screen").screen.screen_mut().set_size(cells(rows), cells(columns));
    }

    /// Sends the command a signal.
    pub fn kill(&self, signal: Signal) {
        // setsid(1) and env(1) have become it.
        kill_process(Pid::from_child(&self.child), signal).expect("kill");
    }

    /// Whether the terminal edits lines, shows what is typed and makes signals of keys.
    pub fn is_cooked(&self) -> bool {
        is_cooked(&self.master)
    }

    /// What the screen shows.
    pub fn screen(&self) -> String {
        self.seen.lock().expect("the screen").screen.screen().contents()
    }

    /// Everything that was printed so far.
    pub fn printed(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().expect("the screen").bytes).into_owned()
    }

    /// Waits until something has been printed after the first `from` bytes; returns the length of
    /// all then.
    pub fn wait_for(&self, from: usize, what: &str) -> usize {
        let mut patience = Patience::of(PATIENCE);
        loop {
            let printed = self.printed();
            if let Some(at) = printed.get(from..).and_then(|rest| rest.find(what)) {
                return from + at + what.len();
            }
            assert!(patience.turn(), "no {what:?} on the terminal:\n{printed:?}");
        }
    }

    /// As [`Terminal::finish`], with the terminal left as it was: it edits lines, shows what is
    /// typed and makes signals of keys.
    pub fn finish_cooked(self) -> (String, ExitStatus) {
        let terminal = self.master.try_clone().expect("a copy");
        let ended = self.finish();
        assert!(is_cooked(&terminal), "the terminal was left otherwise");
        ended
    }

    /// Waits for the end; what it printed and its status.
    pub fn finish(mut self) -> (String, ExitStatus) {
        let status = patience::wait(&mut self.child, PATIENCE).unwrap_or_else(|why| {
            self.child.kill().expect("kill");
            panic!("it {why}:\n{}", self.printed());
        });
        if let Some(reader) = self.reader.take() {
            reader.join().expect("the reader");
        }
        (self.screen(), status)
    }
}

fn is_cooked(terminal: &File) -> bool {
    let modes = tcgetattr(terminal).expect("modes").local_modes;
    modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
}
