/// A run that can be paused, looked at, and taken back to a moment before.
pub struct Session {
    config: Config,
    machine: Machine,
    guest: Guest,
    /// Ends the timer when dropped.
    _timer: Option<Sender<()>>,
}

/// A run as it was. It has to be given back to [`Session::forget`].
pub struct Saved {
    machine: SavedMachine,
    kernel: Kernel,
    random: Random,
    ending: Option<Ending>,
    syscall_paused_at: Option<u64>,
}

impl Saved {
    /// Instructions that had been executed.
    pub fn instructions(&self) -> u64 {
        self.machine.instructions()
    }
}

impl Session {
    /// Loads a program; its first instruction is next.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(config: Config, control: Arc<Control>) -> Result<Session, StartError> {
        let cwd =
            std::env::current_dir().map_err(|error| other(format!("the working directory: {error}")))?;
        let memory = config.limits.memory.unwrap_or(DEFAULT_MEMORY);
        let mut kernel = Kernel::new(&KernelConfig {
            allow_write: config.allow_write.clone(),
            cwd,
            seed: config.seed,
            memory_limit: memory,
            interrupt: Arc::clone(&control.interrupt),
            front: control.front.clone(),
            input: config.input.clone(),
            journal: config.journal,
        });
        let caches = config.caches.map(|caches| Hierarchy::new(caches.i1, caches.d1, caches.ll));
        let predictors = config.branch_sim.then(Predictors::default);
        let arena =
            Arena::reserve().map_err(|error| other(format!("cannot reserve guest memory: {error}")))?;
        let frames = Frames::new(arena, usize::try_from(memory / PAGE_SIZE).unwrap_or(usize::MAX));
        let recorder = Recorder::new(Link::threaded(Consumer::parts(caches, predictors)));
        let reference = config.producer == Producer::Api;
        let mut machine = Machine::new(frames, Layout::LINUX.mmap_top, recorder, reference).map_err(other)?;

        let argv = config.argv.iter().map(|arg| arg.as_bytes().to_vec()).collect();
        let envp = config
            .env
            .iter()
            .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat())
            .collect();
        let path = config.program.as_os_str().as_bytes();
        load::prepare(&mut kernel, machine.memory(), path, path, argv, envp)
            .and_then(|prepared| prepared.start(&mut kernel, &mut machine))
            .map_err(start_error)?;
        if !config.instr_at_start {
            machine.set_counting(false);
        }
        let guest = Guest {
            kernel,
            modules: Modules::default(),
            limits: Limits { memory: Some(memory), ..config.limits },
            ending: None,
            exec: None,
            wishes: Wishes::default(),
            paused: None,
            syscall_paused_at: None,
            random: Random::new(config.seed ^ RDRAND_STREAM),
            control,
        };
        let _timer = config.limits.time.map(|time| start_timer(time, &guest.control));
        Ok(Session { config, machine, guest, _timer })
    }

    /// Lets the program run until something that was wished for, or its end.
    pub fn resume(&mut self, wishes: Wishes) -> Pause {
        if self.guest.ending.is_some() {
            return Pause::Ended;
        }
        self.guest.wishes = wishes;
        self.guest.paused = None;
        loop {
            let failed = match self.machine.run(&mut self.guest) {
                Ok(()) if self.guest.kernel.fs.streams.is_astray() => Some(
                    "the program did not do again what it had done: its input or files have changed".into(),
                ),
                Ok(()) => None,
                Err(error) => Some(format!("the emulator failed: {error}")),
            };
            if let Some(why) = failed {
                self.guest.ending = Some(Ending::Stop(Stop::Refused(why)));
            }
            if self.guest.ending.is_some() {
                return Pause::Ended;
            }
            if let Some(pause) = self.guest.paused {
                return pause;
            }
            let Some(request) = self.guest.exec.take() else {
                let why = "the emulator stopped without a reason".into();
                self.guest.ending = Some(Ending::Stop(Stop::Refused(why)));
                return Pause::Ended;
            };
            if exec(&mut self.machine, &mut self.guest, request) && self.guest.wishes.exec {
                return Pause::Exec;
            }
            if self.guest.ending.is_some() {
                return Pause::Ended;
            }
        }
    }

    /// Instructions executed so far.
    pub fn instructions(&mut self) -> u64 {
        self.machine.cpu().instructions()
    }

    /// The run as it is now.
    ///
    /// # Errors
    /// When the engine has no memory.
    pub fn save(&mut self) -> Result<Saved, EngineError> {
        Ok(Saved {
            machine: self.machine.save()?,
            kernel: self.guest.kernel.clone(),
            random: self.guest.random.clone(),
            ending: self.guest.ending.clone(),
            syscall_paused_at: self.guest.syscall_paused_at,
        })
    }

    /// The run becomes what it was when `saved` was made of it.
    ///
    /// # Errors
    /// When the engine refuses.
    pub fn restore(&mut self, saved: &Saved) -> Result<(), EngineError> {
        self.machine.restore(&saved.machine)?;
        self.guest.kernel = saved.kernel.clone();
        self.guest.random = saved.random.clone();
        self.guest.ending = saved.ending.clone();
        self.guest.syscall_paused_at = saved.syscall_paused_at;
        self.guest.paused = None;
        self.guest.exec = None;
        Ok(())
    }

    /// Gives up what `saved` holds.
    pub fn forget(&mut self, saved: Saved) {
        self.machine.forget(saved.machine);
    }

    /// The counts so far.
    pub fn profile(&mut self) -> Folded {
        let mut consumers = Vec::new();
        self.machine.visit_consumers(|consumer| consumers.push(consumer.clone()));
        let code = self.config.instructions.then(|| self.machine.code_in_no_file());
        fold(&self.config, &consumers, &mut self.guest.modules, code)
    }

    /// Ends the run and gives back what it cost.
    pub fn finish(self) -> Finished {
        let Session { config, mut machine, mut guest, _timer } = self;
        if let Err(errno) = guest.kernel.fs.write_back(machine.memory()) {
            let error = std::io::Error::from_raw_os_error(errno.0.into());
            guest
                .kernel
                .notices
                .once(format!("what was stored in a shared mapping of a file is not all in it: {error}"));
        }
        let code = config.instructions.then(|| machine.code_in_no_file());
        let consumers = machine.finish();
        let ending = guest.ending.unwrap_or(Ending::Stop(Stop::Interrupted(SIGKILL)));
        let (stop, line) = attribute::explain(ending, &mut guest.modules);
        let mut notices = guest.kernel.notices.take();
        notices.extend(line);
        let dropped = guest.kernel.fs.dropped();
        if dropped > 0 {
            let files = if dropped == 1 { "1 file is".to_owned() } else { format!("{dropped} files are") };
            notices.push(format!(
                "{files} dropped that the program wrote, changed or removed; --allow-write=DIR keeps what is in DIR"
            ));
        }
        let Folded { profile, instructions } = fold(&config, &consumers, &mut guest.modules, code);
        Finished { stop, profile, instructions, notices }
    }
}

fn fold(
    config: &Config,
    consumers: &[Consumer],
    modules: &mut Modules,
    code: Option<BTreeMap<u64, Vec<u8>>>,
) -> Folded {
    let command = command_line(config);
    let subject =
        Subject { command: &command, caches: config.caches.as_ref(), branch: config.branch_sim, code };
    attribute::fold_run(consumers, modules, subject)
}

