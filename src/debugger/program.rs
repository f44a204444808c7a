//! The program that is debugged: the files its code comes from, and names for addresses.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use crate::session::{Loaded, Session};
use crate::symbols::debugger::cfi::Cfi;
use crate::symbols::debugger::inline::Frame;
use crate::symbols::debugger::symbol_lookup::{LineCode, Match, MinimalSymbol, SourceLine, SymbolLookup};
use crate::symbols::debugger::symbol_match;
use crate::symbols::give_up::GiveUp;
use crate::symbols::symboliser::Object;
use crate::symbols::valgrind::demangle::display_name;

use super::error::{Error, LocationError};
use super::suggest::nearest;

/// A file with code, at the place where it is mapped.
pub struct Module {
    /// Its path in the guest's view.
    pub path: Arc<str>,
    /// The addresses of its code.
    pub range: Range<u64>,
    /// The difference of an address in the program and its link-time address.
    pub bias: u64,
    origin: u64,
    object: Rc<Object>,
    symbols: Rc<SymbolLookup>,
}

/// A function, seen from one of its instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The readable name.
    pub name: String,
    /// Its addresses; empty for a label of assembly.
    pub range: Range<u64>,
}

/// A place in the code that a user named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// As it is shown: `main`, `prog.c:12`, `0x401000`.
    pub name: String,
    /// The addresses for breakpoints.
    pub addresses: Vec<u64>,
}

/// A call whose code the compiler has put into the caller.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InlinedCall {
    /// The caller, if it has a name.
    pub caller: Option<String>,
    /// File and line of the call; the line is 0 if it is not known.
    pub place: Option<(Option<String>, u32)>,
}

/// The files with code that a process has mapped, and where: what tells one program from another.
pub(super) type Modules = Vec<(Arc<str>, u64, u64)>;

/// All modules, by rising address.
#[derive(Default)]
pub struct Program {
    modules: Vec<Module>,
    loaded: Modules,
    /// The wish to look no further.
    give_up: GiveUp,
}

impl Program {
    /// Looks at what is mapped now. What was known stays known.
    pub fn refresh(&mut self, session: &mut Session) {
        let loaded = session.loaded();
        self.give_up = session.give_up();
        let place = |file: &Loaded| (Arc::clone(&file.path), file.origin, file.range.start);
        self.loaded = loaded.iter().map(place).collect();
        let same = |module: &Module, loaded: &Loaded| {
            module.path == loaded.path && module.origin == loaded.origin && module.range == loaded.range
        };
        if loaded.len() == self.modules.len() && self.modules.iter().zip(&loaded).all(|(m, l)| same(m, l)) {
            return;
        }
        let mut before = std::mem::take(&mut self.modules);
        for file in loaded {
            match before.iter().position(|module| same(module, &file)) {
                Some(at) => self.modules.push(before.swap_remove(at)),
                None => self.modules.extend(Module::new(file)),
            }
        }
    }

    /// The files of the modules, and of those too of which nothing is known.
    pub(super) fn loaded(&self) -> &Modules {
        &self.loaded
    }

    /// The modules.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// The module whose code is at `pc`.
    pub fn module_at(&self, pc: u64) -> Option<&Module> {
        self.modules.iter().find(|module| module.range.contains(&pc))
    }

    /// The function that `pc` is in, and how many bytes past its start.
    pub fn function_at(&self, pc: u64) -> Option<(Function, u64)> {
        let module = self.module_at(pc)?;
        let (symbol, past) = module.symbols.function_at(pc.wrapping_sub(module.bias))?;
        Some((module.function(symbol), past))
    }

    /// The source line of `pc`.
    pub fn line_at(&self, pc: u64) -> Option<(SourceLine, Range<u64>)> {
        let module = self.module_at(pc)?;
        let place = module.symbols.source_line(pc.wrapping_sub(module.bias))?;
        let range = place.start.wrapping_add(module.bias)..place.end.wrapping_add(module.bias);
        (place.line > 0).then_some((place, range))
    }

    /// The number of calls that were inlined at `pc`.
    pub fn inlined_at(&self, pc: u64) -> usize {
        self.module_at(pc).map_or(0, |module| module.chain(pc).len().saturating_sub(1))
    }

    /// `main+4`, for an address of code or data.
    pub fn symbol_at(&self, addr: u64) -> Option<String> {
        let (name, past) = self.label(addr)?;
        Some(if past == 0 { name } else { format!("{name}+{past}") })
    }

    /// The function or data that an address is in, and how many bytes past its start.
    pub fn label(&self, addr: u64) -> Option<(String, u64)> {
        let in_code = self.function_at(addr).map(|(function, past)| (function.name, past));
        let in_data = || {
            self.modules.iter().find_map(|module| {
                let (symbol, past) = module.symbols.data_at(addr.wrapping_sub(module.bias))?;
                Some((symbol.shown(), past))
            })
        };
        in_code.or_else(in_data)
    }

    /// The piece of data that holds `addr`.
    pub fn data_at(&self, addr: u64) -> Option<String> {
        self.modules.iter().find_map(|module| {
            let (symbol, _) = module.symbols.data_at(addr.wrapping_sub(module.bias))?;
            Some(symbol.shown())
        })
    }

    /// The functions that a name means: the best of all modules, and those that fit equally well.
    pub fn functions(&self, name: &str) -> Vec<Function> {
        self.best(name, SymbolLookup::functions_named)
            .into_iter()
            .map(|(module, found)| module.function(found.symbol))
            .collect()
    }

    /// The best meanings of a name; of several modules, the first.
    fn best<'p>(
        &'p self,
        name: &str,
        named: impl Fn(&'p SymbolLookup, &str) -> Vec<Match<'p>>,
    ) -> Vec<(&'p Module, Match<'p>)> {
        let mut all: Vec<(&Module, Match<'p>)> = Vec::new();
        for module in &self.modules {
            all.extend(named(&module.symbols, name).into_iter().map(|found| (module, found)));
        }
        let Some(best) = all.iter().map(|(_, found)| found.fit).min() else { return Vec::new() };
        let Some(first) = all.iter().find(|(_, found)| found.fit == best).map(|(module, _)| module.origin)
        else {
            return Vec::new();
        };
        all.retain(|(module, found)| found.fit == best && module.origin == first);
        all.dedup_by(|a, b| a.1.symbol.vaddr == b.1.symbol.vaddr);
        all
    }

    /// Address and size of the data or function called `name`.
    pub fn symbol(&self, name: &str) -> Option<(u64, u64)> {
        self.data(name).or_else(|| self.code(name))
    }

    /// Address and size of the function called `name`.
    pub fn code(&self, name: &str) -> Option<(u64, u64)> {
        place(&self.best(name, SymbolLookup::functions_named))
    }

    /// Address and size of the data called `name`.
    pub fn data(&self, name: &str) -> Option<(u64, u64)> {
        place(&self.best(name, SymbolLookup::data_named))
    }

    /// All names.
    pub fn names(&self) -> Names {
        let symbols = self.modules.iter().map(|module| Rc::clone(&module.symbols)).collect();
        Names { symbols, give_up: self.give_up.clone() }
    }

    /// Finds the place that `FUNC`, `FILE:LINE` or `*ADDR` names; `here` is the file that a bare
    /// line number is in.
    ///
    /// # Errors
    /// A line that says what was not found, and the nearest name.
    pub fn locate(&self, text: &str, here: Option<&str>) -> Result<Location, Error> {
        let text = text.trim();
        if text.is_empty() {
            return Err(LocationError::Empty.into());
        }
        if let Ok(line) = text.parse::<u32>() {
            let file = here.ok_or(LocationError::NoFile { line })?;
            return self.line(file, line);
        }
        let found = self.named(text);
        if self.give_up.asked() {
            // There may be more.
            return Err(Error::Interrupted);
        }
        if let Some(found) = found {
            return Ok(found);
        }
        if let Some((file, line)) = text.rsplit_once(':')
            && let Ok(line) = line.parse()
        {
            return self.line(file, line);
        }
        let nearest = nearest(text, self.give_up.over(self.names().functions()));
        Err(LocationError::Function { name: text.to_owned(), nearest }.into())
    }

    /// The addresses of `FUNC` or `FILE:LINE`; none if this program has no such place, `None` if
    /// looking for it was given up.
    pub(super) fn addresses(&self, text: &str) -> Option<Vec<u64>> {
        let found = self.named(text).or_else(|| {
            let (file, line) = text.rsplit_once(':')?;
            self.code_of_line(file, line.parse().ok()?)
        });
        (!self.give_up.asked()).then(|| found.map_or(Vec::new(), |location| location.addresses))
    }

    /// The function called `text`, and its inlined copies.
    fn named(&self, text: &str) -> Option<Location> {
        let functions = self.functions(text);
        let mut addresses: Vec<u64> =
            functions.iter().map(|function| self.after_prologue(function)).collect();
        // A function is inlined where it is defined; only one that is nowhere else is looked for
        // everywhere.
        let home = functions.first().and_then(|function| self.module_at(function.range.start));
        match home {
            Some(module) => addresses.extend(module.inlined_copies(text)),
            None => addresses.extend(self.modules.iter().flat_map(|module| module.inlined_copies(text))),
        }
        addresses.sort_unstable();
        addresses.dedup();
        let name = functions.first().map_or(text, |function| &function.name).to_owned();
        (!addresses.is_empty()).then_some(Location { name, addresses })
    }

    /// The code of a line, or of the next one that has any.
    fn code_of_line(&self, file: &str, line: u32) -> Option<Location> {
        let mut found: Option<(LineCode, Vec<u64>)> = None;
        for module in &self.modules {
            let Some(code) = module.line_code(file, line) else { continue };
            let addresses = code.addresses.iter().map(|vaddr| vaddr.wrapping_add(module.bias)).collect();
            if found.as_ref().is_none_or(|(best, _)| code.line < best.line) {
                found = Some((code, addresses));
            }
        }
        let (code, addresses) = found?;
        Some(Location { name: format!("{file}:{}", code.line), addresses })
    }

    fn line(&self, file: &str, line: u32) -> Result<Location, Error> {
        let found = self.code_of_line(file, line);
        if self.give_up.asked() {
            return Err(Error::Interrupted);
        }
        if let Some(found) = found {
            return Ok(found);
        }
        let files = self.names().files();
        if files.is_empty() {
            return Err(LocationError::NoLines { file: file.to_owned(), line }.into());
        }
        let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        if files.iter().any(|known| base(known) == base(file)) {
            return Err(LocationError::NoCode { file: file.to_owned(), line }.into());
        }
        let nearest = nearest(&base(file), files.iter().map(|path| base(path)));
        Err(LocationError::SourceFile { file: file.to_owned(), nearest }.into())
    }

    fn after_prologue(&self, function: &Function) -> u64 {
        self.body(function).unwrap_or(function.range.start)
    }

    /// The beginning of the function's body, behind its prologue.
    pub fn body(&self, function: &Function) -> Option<u64> {
        let start = function.range.start;
        self.module_at(start)?.after_prologue(start)
    }
}

/// Address and size of the first meaning.
fn place(found: &[(&Module, Match)]) -> Option<(u64, u64)> {
    let (module, found) = found.first()?;
    Some((found.symbol.vaddr.wrapping_add(module.bias), found.symbol.size))
}

/// The names of a program, for completion and suggestions. The methods read every symbol.
#[derive(Clone, Default)]
pub struct Names {
    symbols: Vec<Rc<SymbolLookup>>,
    give_up: GiveUp,
}

impl Names {
    /// Those of the program itself, without its libraries: it is mapped below them.
    pub fn own(&self) -> Names {
        let symbols = self.symbols.iter().take(1).map(Rc::clone).collect();
        Names { symbols, give_up: self.give_up.clone() }
    }

    /// True if the user wants the reading of names to be given up.
    pub fn is_given_up(&self) -> bool {
        self.give_up.asked()
    }

    /// The value of a cell, which `read` makes unless that is given up.
    pub fn once<'c, T>(&self, cell: &'c OnceCell<T>, read: impl FnOnce() -> T) -> Option<&'c T> {
        self.give_up.once(cell, read)
    }

    /// Those of a program without any, whose reading the user can give up.
    #[cfg(test)]
    pub(crate) fn none(control: &Arc<crate::session::Control>) -> Names {
        use std::sync::atomic::Ordering::Relaxed;
        let interrupt = Arc::clone(&control.interrupt);
        let give_up = GiveUp::when(move || interrupt.load(Relaxed) == crate::session::PAUSE);
        Names { symbols: Vec::new(), give_up }
    }

    /// The functions.
    pub fn functions(&self) -> Vec<String> {
        self.symbols.iter().flat_map(|symbols| symbols.function_names()).collect()
    }

    /// The functions and the data.
    pub fn symbols(&self) -> Vec<String> {
        let of =
            |symbols: &Rc<SymbolLookup>| symbols.function_names().into_iter().chain(symbols.data_names());
        self.symbols.iter().flat_map(of).collect()
    }

    /// The source files.
    pub fn files(&self) -> Vec<String> {
        self.symbols.iter().flat_map(|symbols| symbols.files()).collect()
    }
}

impl Module {
    fn new(loaded: Loaded) -> Option<Module> {
        let Loaded { path, origin, range, object } = loaded;
        let vaddr = object.vaddr_of_file_offset(range.start.wrapping_sub(origin))?;
        let symbols = Rc::clone(object.lookup()?);
        let bias = range.start.wrapping_sub(vaddr);
        Some(Module { path, range, bias, origin, object, symbols })
    }

    /// Its call frame information, if it has any.
    pub fn cfi(&self) -> Option<Arc<Cfi>> {
        self.object.cfi()
    }

    /// The functions at `pc`, the outermost first: the one that the code belongs to, and those that
    /// were inlined there.
    pub fn chain(&self, pc: u64) -> Vec<Frame> {
        self.object.inlined_at(pc.wrapping_sub(self.bias)).unwrap_or_default()
    }

    fn function(&self, symbol: &MinimalSymbol) -> Function {
        let start = symbol.vaddr.wrapping_add(self.bias);
        Function { name: symbol.shown(), range: start..start.wrapping_add(symbol.size) }
    }

    fn line_code(&self, file: &str, line: u32) -> Option<LineCode> {
        self.object.line_code(file, line)
    }

    /// The beginnings of the copies of a function that were inlined into others.
    fn inlined_copies(&self, name: &str) -> Vec<u64> {
        let sites = self.object.inlined_sites(name);
        sites.into_iter().map(|vaddr| vaddr.wrapping_add(self.bias)).collect()
    }

    /// True if the function `name` was inlined somewhere.
    pub fn inlines(&self, name: &str) -> bool {
        !self.object.inlined_sites(name).is_empty()
    }

    /// The innermost inlined call of the function `name` that the instruction at `pc` is part of:
    /// its caller, and file and line of the call as far as they are known.
    pub fn inlined_call(&self, name: &str, pc: u64) -> Option<InlinedCall> {
        let chain = self.chain(pc);
        let is_meant =
            |frame: &Frame| frame.function.as_ref().is_some_and(|raw| symbol_match::fit(name, raw).is_some());
        let at = chain.iter().skip(1).rposition(is_meant)?;
        let readable = |frame: &Frame| {
            let name = frame.function.as_ref()?;
            Some(display_name(name, true, true).into_owned())
        };
        let caller = chain.get(at).and_then(readable);
        Some(InlinedCall { caller, place: chain.get(at + 1)?.call.clone() })
    }

    fn after_prologue(&self, start: u64) -> Option<u64> {
        let (symbol, _) = self.symbols.function_at(start.wrapping_sub(self.bias))?;
        Some(self.object.after_prologue(symbol)?.wrapping_add(self.bias))
    }
}
