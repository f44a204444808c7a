//! Display of values: the format letters of GDB's `print` and `x` (GDB manual, "Output Formats").

use super::value::{Integer, Kind, Type, Value, escaped};

/// A format letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `x`: the bits in hexadecimal.
    Hex,
    /// `d`: a signed number.
    Decimal,
    /// `u`: an unsigned number.
    Unsigned,
    /// `o`: the bits in octal.
    Octal,
    /// `t`: the bits, without zeros in front.
    Binary,
    /// `a`: an address, with the symbol before it.
    Address,
    /// `c`: the lowest byte as a number and a character.
    Character,
    /// `f`: four or eight bytes as a floating-point number.
    Float,
    /// `s`: a string; of an integer, itself.
    Text,
    /// `i`: an instruction. It has no value; only `x` can show it.
    Instruction,
}

impl Format {
    /// The format of a letter.
    pub fn from_letter(letter: char) -> Option<Format> {
        Some(match letter {
            'x' => Format::Hex,
            'd' => Format::Decimal,
            'u' => Format::Unsigned,
            'o' => Format::Octal,
            't' => Format::Binary,
            'a' => Format::Address,
            'c' => Format::Character,
            'f' => Format::Float,
            's' => Format::Text,
            'i' => Format::Instruction,
            _ => return None,
        })
    }

    /// `value` as it is shown where no format is asked for: addresses in hexadecimal with their
    /// symbol, a vector by its lanes.
    pub fn natural(value: &Value, symbol: &mut dyn FnMut(u64) -> Option<String>) -> String {
        match value {
            Value::Integer(integer) if integer.kind() == Kind::Pointer => {
                Format::Address.integer(*integer, symbol)
            }
            Value::Vector(_) => {
                format!(
                    "{{f64 = {}, f32 = {}, u128 = {value}}}",
                    lanes(value, Type::F64),
                    lanes(value, Type::F32)
                )
            }
            _ => value.to_string(),
        }
    }

    /// `value` in this format. `symbol` names an address, such as `main+4`. Floating-point numbers
    /// are shown by their bits where the format is not theirs, strings byte by byte, vectors as
    /// one number, or with `f` by their lanes.
    pub fn show(self, value: &Value, symbol: &mut dyn FnMut(u64) -> Option<String>) -> String {
        match value {
            Value::Integer(integer) => self.integer(*integer, symbol),
            Value::Float(float) => match self {
                Format::Float | Format::Text | Format::Instruction => value.to_string(),
                Format::Character => self.integer(Integer::new(*float as i128, Kind::I8), symbol),
                _ => self.integer(Integer::new(i128::from(float.to_bits()), Kind::U64), symbol),
            },
            Value::Vector(bytes) => {
                let bits = u128::from_le_bytes(*bytes);
                match self {
                    Format::Decimal => (bits as i128).to_string(),
                    Format::Unsigned => bits.to_string(),
                    Format::Octal => octal(bits),
                    Format::Binary => format!("{bits:b}"),
                    Format::Float => {
                        format!("{{f64 = {}, f32 = {}}}", lanes(value, Type::F64), lanes(value, Type::F32))
                    }
                    _ => value.to_string(),
                }
            }
            Value::Bytes(bytes) => match self {
                Format::Text | Format::Address | Format::Instruction => value.to_string(),
                _ => {
                    let each = bytes
                        .iter()
                        .map(|byte| self.integer(Integer::new(i128::from(*byte), Kind::U8), &mut |_| None));
                    format!("{{{}}}", each.collect::<Vec<_>>().join(", "))
                }
            },
        }
    }

    fn integer(self, integer: Integer, symbol: &mut dyn FnMut(u64) -> Option<String>) -> String {
        let bits = integer.bits();
        let of_sign =
            |signed: bool| Integer::new(i128::from(bits), with_sign(integer.kind(), signed)).value();
        match self {
            Format::Hex => format!("{bits:#x}"),
            Format::Decimal => of_sign(true).to_string(),
            Format::Unsigned => bits.to_string(),
            Format::Octal => octal(bits.into()),
            Format::Binary => format!("{bits:b}"),
            Format::Address => {
                let address = integer.as_u64();
                match symbol(address) {
                    Some(name) => format!("{address:#x} <{name}>"),
                    None => format!("{address:#x}"),
                }
            }
            Format::Character => {
                let kind = with_sign(Kind::I8, integer.kind().signed());
                let number = Integer::new(integer.value(), kind);
                format!("{} '{}'", number.value(), escaped(&[number.bits() as u8], b'\''))
            }
            Format::Float => match integer.kind().size() {
                4 => Value::Float(f64::from(f32::from_bits(bits as u32))).to_string(),
                8 => Value::Float(f64::from_bits(bits)).to_string(),
                _ => integer.value().to_string(),
            },
            Format::Text | Format::Instruction => integer.value().to_string(),
        }
    }
}

fn with_sign(kind: Kind, signed: bool) -> Kind {
    match (kind.size(), signed) {
        (1, true) => Kind::I8,
        (1, false) => Kind::U8,
        (2, true) => Kind::I16,
        (2, false) => Kind::U16,
        (4, true) => Kind::I32,
        (4, false) => Kind::U32,
        (_, true) => Kind::I64,
        (_, false) => Kind::U64,
    }
}

/// `{1.5, 0.0}`.
fn lanes(vector: &Value, lane: Type) -> String {
    let lanes: Vec<String> = vector.lanes(lane).iter().map(Value::to_string).collect();
    format!("{{{}}}", lanes.join(", "))
}

fn octal(bits: u128) -> String {
    if bits == 0 { "0".to_owned() } else { format!("0{bits:o}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(letter: char, value: &Value) -> String {
        let mut symbol = |address| (address == 0x401130).then(|| "main+4".to_owned());
        Format::from_letter(letter).expect("a format").show(value, &mut symbol)
    }

    /// Output of GDB 13 for `p/x (char)-1` and so on.
    #[test]
    fn as_gdb_shows_them() {
        let integer = |value, kind| Value::Integer(Integer::new(value, kind));
        for (letter, value, expected) in [
            ('c', integer(200, Kind::I32), "-56 '\\310'"),
            ('c', integer(65, Kind::I32), "65 'A'"),
            ('c', integer(10, Kind::I8), "10 '\\n'"),
            ('c', integer(39, Kind::I32), "39 '\\''"),
            ('c', integer(300, Kind::I32), "44 ','"),
            ('c', integer(0, Kind::I32), "0 '\\000'"),
            ('c', Value::Float(1.5), "1 '\\001'"),
            ('f', integer(3, Kind::I8), "3"),
            ('f', integer(-3, Kind::I16), "-3"),
            ('f', integer(0x3fc0_0000, Kind::I32), "1.5"),
            ('f', integer(0x3ff8_0000_0000_0000, Kind::I64), "1.5"),
            ('x', integer(-1, Kind::I32), "0xffffffff"),
            ('x', integer(-1, Kind::I8), "0xff"),
            ('x', Value::Float(1.5), "0x3ff8000000000000"),
            ('o', integer(8, Kind::I32), "010"),
            ('o', integer(0, Kind::I32), "0"),
            ('t', integer(10, Kind::I32), "1010"),
            ('t', integer(-1, Kind::I32), "11111111111111111111111111111111"),
            ('u', integer(-1, Kind::I32), "4294967295"),
            ('d', integer(0xffff_ffff, Kind::U32), "-1"),
            ('d', Value::Float(1.5), "4609434218613702656"),
            ('a', integer(10, Kind::I32), "0xa"),
            ('a', integer(0x40_1130, Kind::U64), "0x401130 <main+4>"),
            ('s', integer(65, Kind::I32), "65"),
            ('x', Value::Bytes(b"ab".to_vec()), "{0x61, 0x62}"),
            ('s', Value::Bytes(b"ab\t".to_vec()), "\"ab\\t\""),
        ] {
            assert_eq!(shown(letter, &value), expected, "{letter} of {value:?}");
        }
        assert_eq!(Format::from_letter('q'), None);
    }

    #[test]
    fn vectors() {
        let value = Value::Vector([0xff; 16]);
        assert_eq!(shown('d', &value), "-1");
        assert_eq!(shown('u', &value), u128::MAX.to_string());
        assert_eq!(shown('t', &value).len(), 128);
        assert_eq!(shown('x', &value), "0xffffffffffffffffffffffffffffffff");
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&1.5f64.to_le_bytes());
        let value = Value::Vector(bytes);
        assert_eq!(shown('f', &value), "{f64 = {1.5, 0.0}, f32 = {0.0, 1.9375, 0.0, 0.0}}");
        let natural = Format::natural(&value, &mut |_| None);
        assert!(
            natural.starts_with("{f64 = {1.5, 0.0}, f32 = ") && natural.contains("u128 = 0x0"),
            "{natural}"
        );
    }

    /// As GDB shows pointers and integers.
    #[test]
    fn addresses_have_their_symbols() {
        let mut symbol = |address| (address == 0x401130).then(|| "main+4".to_owned());
        for (value, expected) in [
            (Value::pointer(0x401130), "0x401130 <main+4>"),
            (Value::pointer(0x7fff_ffff_e000), "0x7fffffffe000"),
            (Value::unsigned(0x401130), "4198704"),
            (Value::signed(-1), "-1"),
            (Value::Float(0.5), "0.5"),
        ] {
            assert_eq!(Format::natural(&value, &mut symbol), expected);
        }
    }
}
