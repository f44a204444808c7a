//! Function names as Valgrind prints them.
use std::borrow::Cow;
/// The name to show for a symbol.
pub fn display_name(raw: &str, _show_below_main: bool, _demangle: bool) -> Cow<'_, str> {
    Cow::Borrowed(raw)
}
