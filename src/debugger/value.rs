//! Values of expressions: integers as C has them, doubles, vectors and byte strings.

use std::fmt::{self, Write as _};

/// Size and sign of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Kind {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    /// An address: as `U64`, and shown with the symbol that it is in.
    Pointer,
}

impl Kind {
    /// Bytes.
    pub const fn size(self) -> usize {
        match self {
            Kind::I8 | Kind::U8 => 1,
            Kind::I16 | Kind::U16 => 2,
            Kind::I32 | Kind::U32 => 4,
            Kind::I64 | Kind::U64 | Kind::Pointer => 8,
        }
    }

    /// True if there are negative values.
    pub const fn signed(self) -> bool {
        matches!(self, Kind::I8 | Kind::I16 | Kind::I32 | Kind::I64)
    }

    /// Bits.
    const fn bits(self) -> u32 {
        8 * self.size() as u32
    }
}

/// Types of memory and of lanes of vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `u8` to `i64`.
    Integer(Kind),
    /// `f32`.
    F32,
    /// `f64`.
    F64,
}

impl Type {
    /// All types, by name.
    pub const ALL: [(&'static str, Type); 10] = [
        ("u8", Type::Integer(Kind::U8)),
        ("i8", Type::Integer(Kind::I8)),
        ("u16", Type::Integer(Kind::U16)),
        ("i16", Type::Integer(Kind::I16)),
        ("u32", Type::Integer(Kind::U32)),
        ("i32", Type::Integer(Kind::I32)),
        ("u64", Type::Integer(Kind::U64)),
        ("i64", Type::Integer(Kind::I64)),
        ("f32", Type::F32),
        ("f64", Type::F64),
    ];

    /// The type called `name`.
    pub fn named(name: &str) -> Option<Type> {
        Type::ALL.into_iter().find(|(other, _)| *other == name).map(|(_, kind)| kind)
    }

    /// Bytes.
    pub const fn size(self) -> usize {
        match self {
            Type::Integer(kind) => kind.size(),
            Type::F32 => 4,
            Type::F64 => 8,
        }
    }

    /// The value of little-endian `bytes`; those beyond the type's size do not matter, missing ones
    /// are zero.
    pub fn read(self, bytes: &[u8]) -> Value {
        let mut wide = [0; 8];
        wide.iter_mut().zip(bytes).take(self.size()).for_each(|(to, from)| *to = *from);
        let bits = u64::from_le_bytes(wide);
        match self {
            Type::Integer(kind) => Value::Integer(Integer::new(i128::from(bits), kind)),
            Type::F32 => Value::Float(f64::from(f32::from_bits(bits as u32))),
            Type::F64 => Value::Float(f64::from_bits(bits)),
        }
    }
}

/// An integer with its size and sign; the value always fits them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Integer {
    value: i128,
    kind: Kind,
}

impl Integer {
    /// `value`, reduced modulo two to the power of the kind's bits, as C converts it.
    pub const fn new(value: i128, kind: Kind) -> Integer {
        let bits = kind.bits();
        let low = value & ((1 << bits) - 1);
        let negative = kind.signed() && low >> (bits - 1) != 0;
        Integer { value: if negative { low - (1 << bits) } else { low }, kind }
    }

    /// The number.
    pub const fn value(self) -> i128 {
        self.value
    }

    /// Its size and sign.
    pub const fn kind(self) -> Kind {
        self.kind
    }

    /// Its bits, as far as it has them: -1 of one byte is 255.
    pub const fn bits(self) -> u64 {
        (self.value & ((1 << self.kind.bits()) - 1)) as u64
    }

    /// The number modulo 2⁶⁴: -1 of one byte is 2⁶⁴ - 1.
    pub const fn as_u64(self) -> u64 {
        self.value as u64
    }
}

/// The value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number, an address or a truth value.
    Integer(Integer),
    /// The value of `f32` and `f64`.
    Float(f64),
    /// A vector register, its first byte first.
    Vector([u8; 16]),
    /// The value of `str`, without its NUL.
    Bytes(Vec<u8>),
}

impl Value {
    /// A signed number of 64 bits.
    pub const fn signed(value: i64) -> Value {
        Value::Integer(Integer::new(value as i128, Kind::I64))
    }

    /// An unsigned number of 64 bits, such as an address.
    pub const fn unsigned(value: u64) -> Value {
        Value::Integer(Integer::new(value as i128, Kind::U64))
    }

    /// An address.
    pub const fn pointer(address: u64) -> Value {
        Value::Integer(Integer::new(address as i128, Kind::Pointer))
    }

    /// True as `if` and `&&` see it: a number other than 0, a vector with a bit set, a string that
    /// is not empty.
    pub fn is_true(&self) -> bool {
        match self {
            Value::Integer(integer) => integer.value != 0,
            Value::Float(float) => *float != 0.0,
            Value::Vector(bytes) => bytes.iter().any(|byte| *byte != 0),
            Value::Bytes(bytes) => !bytes.is_empty(),
        }
    }

    /// The value as an address; `None` if it is not an integer.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Value::Integer(integer) => Some(integer.as_u64()),
            _ => None,
        }
    }

    /// The lanes of a vector; none of other values.
    pub fn lanes(&self, lane: Type) -> Vec<Value> {
        match self {
            Value::Vector(bytes) => bytes.chunks_exact(lane.size()).map(|bytes| lane.read(bytes)).collect(),
            _ => Vec::new(),
        }
    }

    /// Its kind, for messages.
    pub fn noun(&self) -> &'static str {
        match self {
            Value::Integer(_) => "an integer",
            Value::Float(_) => "a floating-point number",
            Value::Vector(_) => "a vector",
            Value::Bytes(_) => "a string",
        }
    }
}

/// Integers in decimal, vectors as 128 bits in hexadecimal, strings in quotes with C's escapes.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(integer) => write!(f, "{}", integer.value),
            Value::Float(float) => write!(f, "{float:?}"),
            Value::Vector(bytes) => write!(f, "{:#034x}", u128::from_le_bytes(*bytes)),
            Value::Bytes(bytes) => write!(f, "\"{}\"", escaped(bytes, b'"')),
        }
    }
}

/// The text between quotes `quote`, with C's escapes for what is not printable ASCII.
pub(super) fn escaped(bytes: &[u8], quote: u8) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            7 => text.push_str("\\a"),
            8 => text.push_str("\\b"),
            b'\t' => text.push_str("\\t"),
            b'\n' => text.push_str("\\n"),
            11 => text.push_str("\\v"),
            12 => text.push_str("\\f"),
            b'\r' => text.push_str("\\r"),
            b'\\' => text.push_str("\\\\"),
            _ if byte == quote => {
                text.push('\\');
                text.push(char::from(byte));
            }
            b' '..=b'~' => text.push(char::from(byte)),
            // Writing to a string does not fail.
            _ => drop(write!(text, "\\{byte:03o}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C's conversions to types of fixed width (C11, 6.3.1.3).
    #[test]
    fn conversions() {
        for (value, kind, expected, bits) in [
            (255, Kind::I8, -1, 255),
            (256, Kind::U8, 0, 0),
            (-1, Kind::U16, 65535, 65535),
            (1 << 31, Kind::I32, -(1 << 31), 1 << 31),
            (1 << 64, Kind::U64, 0, 0),
            (-1, Kind::U64, u64::MAX.into(), u64::MAX),
            (1 << 63, Kind::I64, i64::MIN.into(), 1 << 63),
            (i128::MIN, Kind::I64, 0, 0),
        ] {
            let integer = Integer::new(value, kind);
            assert_eq!((integer.value(), integer.bits()), (expected, bits), "{value} as {kind:?}");
        }
        assert_eq!(Integer::new(-1, Kind::I8).as_u64(), u64::MAX);
    }

    #[test]
    fn reading_bytes() {
        let bytes = [0xff, 0xff, 0, 0, 0, 0, 0xf0, 0x3f];
        for (name, expected) in [("u8", "255"), ("i8", "-1"), ("u16", "65535"), ("i32", "65535")] {
            let kind = Type::named(name).expect("a type");
            assert_eq!(kind.read(&bytes).to_string(), expected, "{name}");
        }
        assert_eq!(Type::F64.read(&1.5f64.to_le_bytes()).to_string(), "1.5");
        assert_eq!(Type::F32.read(&(-0.25f32).to_le_bytes()).to_string(), "-0.25");
        assert_eq!(Type::named("u128"), None);
    }

    #[test]
    fn vectors_and_strings() {
        let mut bytes = [0; 16];
        bytes[0] = 0xab;
        assert_eq!(Value::Vector(bytes).to_string(), "0x000000000000000000000000000000ab");
        assert_eq!(Value::Bytes(b"a\"b\n\x01\xff".to_vec()).to_string(), r#""a\"b\n\001\377""#);
    }
}
