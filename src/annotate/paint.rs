//! Colour for terminals: the larger a share of the total, the more it stands out.

use anstyle::{AnsiColor, Style};

/// The style of a count with this share of the total, in percent.
#[must_use]
pub fn style(share: f64) -> Style {
    let share = share.abs();
    if share >= 10.0 {
        AnsiColor::Red.on_default().bold()
    } else if share >= 2.0 {
        AnsiColor::Yellow.on_default()
    } else if share >= 0.5 {
        AnsiColor::Green.on_default()
    } else {
        Style::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_shares_differ_from_smaller_ones() {
        assert_eq!(style(0.0).render().to_string(), "");
        let styles = [0.1, 0.5, 2.0, 10.0].map(style);
        for (at, one) in styles.iter().enumerate() {
            assert!(styles.iter().skip(at + 1).all(|other| other != one));
        }
        assert_eq!(style(-50.0), style(50.0));
        assert_eq!(style(f64::NAN), Style::new());
    }
}
