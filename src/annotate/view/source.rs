//! Annotated source: the lines of a file around those that have counts.

use std::ops::RangeInclusive;

/// Counts of a line, and its number.
pub(crate) type CountedLine<'a> = (u64, &'a [i64]);

/// A line of source.
#[derive(Clone, Debug)]
pub(crate) struct Line<'a, T> {
    /// Its number, from 1.
    pub(crate) number: u64,
    /// Its text.
    pub(crate) text: T,
    /// Its counts, if it has any.
    pub(crate) counts: Option<&'a [i64]>,
}

/// Lines that follow each other.
#[derive(Clone, Debug)]
pub(crate) struct Piece<'a, T> {
    /// The range that was chosen. The file may end before.
    pub(crate) range: RangeInclusive<u64>,
    /// The lines.
    pub(crate) lines: Vec<Line<'a, T>>,
}

impl<T> Piece<'_, T> {
    /// True unless the file ends before the range does.
    pub(crate) fn is_whole(&self) -> bool {
        self.lines.last().is_some_and(|line| line.number == *self.range.end())
    }
}

/// A source file with counts.
#[derive(Clone, Debug)]
pub(crate) struct AnnotatedSource<'a, T> {
    /// Counts that have no line.
    pub(crate) unplaced: Option<&'a [i64]>,
    /// The parts of the file that were chosen.
    pub(crate) pieces: Vec<Piece<'a, T>>,
    /// Counts of lines past the end of the file.
    pub(crate) beyond: Vec<CountedLine<'a>>,
}

/// The lines with `context` around each of `counted`, which ascend. Ranges that overlap are one.
pub(crate) fn around(counted: impl IntoIterator<Item = u64>, context: u64) -> Vec<RangeInclusive<u64>> {
    let mut ranges: Vec<RangeInclusive<u64>> = Vec::new();
    for line in counted {
        let (start, end) = (line.saturating_sub(context).max(1), line.saturating_add(context));
        match ranges.last_mut() {
            Some(last) if start <= *last.end() => *last = *last.start()..=end,
            _ => ranges.push(start..=end),
        }
    }
    ranges
}

/// Puts counts beside the lines of a file. `counted` ascends by line; line 0 stands for counts
/// without a line. `ranges` ascend and do not overlap. No more of `lines` is read than is needed.
pub(crate) fn annotated<'a, T>(
    counted: impl IntoIterator<Item = CountedLine<'a>>,
    ranges: Vec<RangeInclusive<u64>>,
    mut lines: impl Iterator<Item = T>,
) -> AnnotatedSource<'a, T> {
    let mut counted = counted.into_iter().peekable();
    let unplaced = counted.next_if(|(line, _)| *line == 0).map(|(_, counts)| counts);
    let mut pieces = Vec::new();
    let mut read = 0;
    'file: for range in ranges {
        let skipped = usize::try_from(range.start().saturating_sub(read + 1)).unwrap_or(usize::MAX);
        if skipped > 0 && lines.nth(skipped - 1).is_none() {
            break;
        }
        read = range.start().saturating_sub(1).max(read);
        let mut piece = Piece { range: range.clone(), lines: Vec::new() };
        while read < *range.end() {
            let Some(text) = lines.next() else {
                pieces.push(piece);
                break 'file;
            };
            read += 1;
            while counted.next_if(|(line, _)| *line < read).is_some() {}
            let counts = counted.next_if(|(line, _)| *line == read).map(|(_, counts)| counts);
            piece.lines.push(Line { number: read, text, counts });
        }
        pieces.push(piece);
    }
    AnnotatedSource { unplaced, pieces, beyond: counted.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(counted: &[u64], context: u64, length: usize) -> (Vec<String>, Vec<u64>) {
        let counts = [1];
        let ranges = around(counted.iter().copied().filter(|line| *line > 0), context);
        let source = annotated(counted.iter().map(|line| (*line, &counts[..])), ranges, 0..length);
        let piece = |piece: &Piece<'_, usize>| {
            let mark = |line: &Line<'_, usize>| if line.counts.is_some() { "*" } else { "" };
            let lines = piece.lines.iter().map(|line| format!("{}{}", line.number, mark(line)));
            lines.collect::<Vec<_>>().join(" ") + if piece.is_whole() { "." } else { "" }
        };
        let beyond = source.beyond.iter().map(|(line, _)| *line).collect();
        (source.pieces.iter().map(piece).collect(), beyond)
    }

    #[test]
    fn pieces_with_context() {
        let pieces = |counted: &[u64], context, length| shown(counted, context, length).0.join(" | ");
        assert_eq!(pieces(&[3], 1, 9), "2 3* 4.");
        assert_eq!(pieces(&[0, 1, 8], 1, 9), "1* 2. | 7 8* 9.");
        assert_eq!(pieces(&[2, 4], 1, 9), "1 2* 3 4* 5.");
        // Neighbours that share no line stay apart.
        assert_eq!(pieces(&[2, 5], 1, 9), "1 2* 3. | 4 5* 6.");
        assert_eq!(pieces(&[2, 3], 0, 9), "2*. | 3*.");
        assert_eq!(pieces(&[2], u64::MAX, 3), "1 2* 3");
        assert_eq!(pieces(&[], 8, 3), "");
    }

    #[test]
    fn lines_past_the_end() {
        assert_eq!(shown(&[2, 5, 9], 1, 4), (vec!["1 2* 3.".into(), "4".into()], vec![5, 9]));
        assert_eq!(shown(&[2, 9, 20], 0, 4), (vec!["2*.".into()], vec![9, 20]));
        assert_eq!(shown(&[1], 0, 0), (vec![String::new()], vec![1]));
    }
}
