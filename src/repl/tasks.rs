//! Commands about threads and processes: lists of them, and the one that is looked at.

use regex::Regex;

use super::arguments::nothing;
use super::error::Error;
use super::shell::{Reply, Shell};
use crate::debugger::follow::Follow;
use crate::profile::grouped;
use crate::session::{ProcessView, TaskView};

impl Shell {
    pub(super) fn info_threads(&mut self) -> Reply {
        let tasks = self.debugger.session().tasks();
        if tasks.is_empty() {
            self.say("no threads: all have ended");
        }
        self.list_threads(&tasks)
    }

    fn list_threads(&mut self, tasks: &[TaskView]) -> Reply {
        let selected = self.debugger.selected_tid();
        self.looking_around(|shell| {
            for task in tasks {
                let line = shell.task_line(task);
                let mark = if task.tid == selected { '>' } else { ' ' };
                shell.say(&format!("{mark} {line}"));
            }
            Ok(())
        })
    }

    /// Does something that looks at other tasks, and looks at the one of before again.
    fn looking_around(&mut self, look: impl FnOnce(&mut Shell) -> Reply) -> Reply {
        let (tid, frame) = (self.debugger.selected_tid(), self.debugger.frame_number());
        let result = look(self);
        if tid != self.debugger.selected_tid() {
            self.debugger.select_task(tid);
        }
        self.debugger.select_frame(frame);
        result
    }

    /// A task with its state and its place. Looks at it, since its program may be another one.
    fn task_line(&mut self, task: &TaskView) -> String {
        let place = match self.debugger.select_task(task.tid) {
            true => self.named(task.pc),
            false => format!("{:#x}", task.pc),
        };
        let ran = executed(task.instructions);
        format!("{}  {}  {ran}  {place}", self.task_title(task), state(task))
    }

    /// `2  task 1001 of process 1000 (name)`.
    fn task_title(&self, task: &TaskView) -> String {
        let TaskView { number, tid, pid, .. } = task;
        let name = self.thread_names.get(tid).unwrap_or(&task.name);
        format!("{number}  task {tid} of process {pid} ({name})")
    }

    pub(super) fn info_processes(&mut self) -> Reply {
        let selected = self.debugger.session().process_looked_at();
        for process in self.debugger.session().processes() {
            let mark = if process.pid == selected { '>' } else { ' ' };
            let state = match process.tasks.len() {
                0 => "zombie".to_owned(),
                1 => "1 thread".to_owned(),
                more => format!("{more} threads"),
            };
            let ProcessView { number, pid, ppid, name, program, .. } = &process;
            let ran = executed(process.instructions);
            let line =
                format!("{mark} {number}  process {pid} of {ppid} ({name})  {state}  {ran}  {program}");
            self.say(line.trim_end());
        }
        Ok(())
    }

    pub(super) fn thread(&mut self, rest: &str) -> Reply {
        let (word, more) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let more = more.trim();
        match word {
            "" => {
                let tid = self.debugger.selected_tid();
                let tasks = self.debugger.session().tasks();
                let task: Vec<TaskView> = tasks.into_iter().filter(|task| task.tid == tid).collect();
                if task.is_empty() {
                    return Err("no thread is selected: all have ended".into());
                }
                self.list_threads(&task)
            }
            "apply" => self.thread_apply(more),
            "name" => self.thread_name(more),
            "find" => self.thread_find(more),
            _ => {
                nothing(more)?;
                let task = self.task_named(word)?;
                self.switch_to_task(task.tid)
            }
        }
    }

    pub(super) fn process(&mut self, rest: &str) -> Reply {
        let id = match rest {
            "" => return self.info_process(),
            _ => number(rest),
        };
        let processes = self.debugger.session().processes();
        let found = processes
            .iter()
            .find(|process| Some(i64::from(process.pid)) == id)
            .or_else(|| processes.iter().find(|process| i64::try_from(process.number).ok() == id));
        match found.and_then(|process| process.tasks.first()) {
            Some(&tid) => self.switch_to_task(tid),
            None => Err(Error::NoProcess(rest.to_owned())),
        }
    }

    /// Looks at a task, and says where it is.
    fn switch_to_task(&mut self, tid: i32) -> Reply {
        if !self.debugger.select_task(tid) {
            return Err(Error::NoThread(tid.to_string()));
        }
        self.listed = None;
        self.task = (tid, self.debugger.session().process_looked_at());
        let tasks = self.debugger.session().tasks();
        if let Some(task) = tasks.iter().find(|task| task.tid == tid) {
            let text = format!("{}  {}", self.task_title(task), state(task));
            self.say(&text);
        }
        self.show_frame();
        Ok(())
    }

    /// The task with an id or a number.
    pub(super) fn task_named(&mut self, word: &str) -> Result<TaskView, Error> {
        let id = number(word);
        let tasks = self.debugger.session().tasks();
        let found = tasks
            .iter()
            .find(|task| Some(i64::from(task.tid)) == id)
            .or_else(|| tasks.iter().find(|task| i64::try_from(task.number).ok() == id));
        found.cloned().ok_or_else(|| Error::NoThread(word.to_owned()))
    }

    /// Carries out a command for several threads: `thread apply all where`.
    fn thread_apply(&mut self, rest: &str) -> Reply {
        const USAGE: &str = "write `thread apply all COMMAND` or `thread apply N... COMMAND`";
        let mut command = rest;
        let mut chosen: Vec<TaskView> = Vec::new();
        loop {
            let (word, more) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
            if word == "all" {
                // GDB begins with the last.
                chosen = self.debugger.session().tasks();
                chosen.reverse();
            } else if let Some((first, last)) = word.split_once('-')
                && let (Some(first), Some(last)) = (number(first), number(last))
            {
                let within = |task: &TaskView| {
                    let number = i64::try_from(task.number).unwrap_or(i64::MAX);
                    (first..=last).contains(&number) || (first..=last).contains(&i64::from(task.tid))
                };
                chosen.extend(self.debugger.session().tasks().into_iter().filter(within));
            } else if number(word).is_some() {
                chosen.push(self.task_named(word)?);
            } else {
                break;
            }
            command = more.trim_start();
        }
        if chosen.is_empty() || command.is_empty() {
            return Err(USAGE.into());
        }
        let word = command.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_')).next();
        let meant = word.and_then(|word| self.commands.find(word).ok());
        if let Some(resuming) = meant.filter(|command| command.resumes) {
            return Err(Error::NotLooking(resuming.name));
        }
        self.looking_around(|shell| {
            for task in &chosen {
                if !shell.debugger.select_task(task.tid) {
                    continue;
                }
                let title = shell.task_title(task);
                shell.say(&format!("Thread {title}:"));
                shell.within(command)?;
                if shell.interrupted {
                    break;
                }
            }
            Ok(())
        })
    }

    /// Gives the thread that is looked at a name of the user's.
    fn thread_name(&mut self, name: &str) -> Reply {
        let tid = self.debugger.selected_tid();
        if name.is_empty() {
            self.thread_names.remove(&tid);
        } else {
            self.thread_names.insert(tid, name.to_owned());
        }
        Ok(())
    }

    /// Lists the threads whose names or ids a regular expression matches.
    fn thread_find(&mut self, pattern: &str) -> Reply {
        if pattern.is_empty() {
            return Err("which name? `thread find PATTERN`".into());
        }
        let expression = Regex::new(pattern).map_err(|_| Error::NoPattern(pattern.to_owned()))?;
        let mut found = self.debugger.session().tasks();
        found.retain(|task| {
            let own = self.thread_names.get(&task.tid).is_some_and(|name| expression.is_match(name));
            own || expression.is_match(&task.name) || expression.is_match(&task.tid.to_string())
        });
        if found.is_empty() {
            self.say(&format!("no threads match `{pattern}`"));
        }
        self.list_threads(&found)
    }

    pub(super) fn follow(&mut self, rest: &str) -> Reply {
        let mode = match rest {
            "" => {
                let mode = self.debugger.follow().word();
                self.say(&format!("follow {mode}"));
                return Ok(());
            }
            word => FOLLOW.into_iter().find(|mode| mode.word() == word),
        };
        self.debugger.set_follow(mode.ok_or("follow whom? `follow parent`, `follow child`, `follow both`")?);
        Ok(())
    }

    /// Says in which call the task that is looked at sleeps.
    pub(super) fn say_call(&mut self) {
        let tid = self.debugger.selected_tid();
        let tasks = self.debugger.session().tasks();
        if let Some(task) = tasks.iter().find(|task| task.tid == tid && task.state == "sleeping") {
            self.say(&state(task));
        }
    }
}

/// `1,234 Ir`: instructions executed, whether they are counted or not.
fn executed(instructions: u64) -> String {
    format!("{} Ir", grouped(instructions))
}

/// The choices of `follow`.
const FOLLOW: [Follow; 3] = [Follow::Parent, Follow::Child, Follow::Both];

/// A number or an id.
fn number(word: &str) -> Option<i64> {
    word.parse().ok()
}

/// `sleeping in read(3, 0x7ffe000010, 64): read from an empty pipe`.
fn state(task: &TaskView) -> String {
    match &task.call {
        Some(call) if task.state == "sleeping" => format!("sleeping in {call}: {}", task.waits),
        Some(call) => format!("{} in {call}", task.state),
        None if !task.waits.is_empty() => format!("{}: {}", task.state, task.waits),
        None => task.state.to_owned(),
    }
}
