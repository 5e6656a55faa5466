//! The protocol buffers wire format: the fields of one message, one after the other. Nested messages
//! are byte ranges for the caller to read, so that nothing here recurses or allocates.

type Result<T> = std::result::Result<T, String>;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    Varint(u64),
    Fixed32(u32),
    Fixed64(u64),
    /// A string, bytes or a nested message.
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    pub fn bytes(self) -> Result<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            other => Err(format!("expected bytes, found {other:?}")),
        }
    }

    pub fn text(self) -> Result<String> {
        match std::str::from_utf8(self.bytes()?) {
            Ok(text) => Ok(text.to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    pub fn float(self) -> Result<f32> {
        match self {
            Self::Fixed32(bits) => Ok(f32::from_bits(bits)),
            other => Err(format!("expected a float, found {other:?}")),
        }
    }

    /// int32 and enumerations: negative numbers are written as 64 bits.
    pub fn int32(self) -> Result<i32> {
        match self {
            Self::Varint(value) => Ok(value as i32),
            other => Err(format!("expected an integer, found {other:?}")),
        }
    }
}

/// The fields of a message in the order of the file: (number, value), or what is wrong and at which
/// byte of the message; nothing follows an error.
pub struct Fields<'a> {
    message: &'a [u8],
    position: usize,
}

pub fn fields(message: &[u8]) -> Fields<'_> {
    Fields {
        message,
        position: 0,
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Value<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.position >= self.message.len() {
            return None;
        }
        let start = self.position;
        let field = self.read();
        if field.is_err() {
            self.position = self.message.len();
        }
        Some(field.map_err(|problem| format!("byte {start}: {problem}")))
    }
}

impl<'a> Fields<'a> {
    fn read(&mut self) -> Result<(u64, Value<'a>)> {
        let tag = self.varint()?;
        let number = tag >> 3;
        if number == 0 {
            return Err("field number 0".to_owned());
        }
        let value = match tag & 7 {
            0 => Value::Varint(self.varint()?),
            1 => Value::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => {
                let length = self.varint()?;
                Value::Bytes(self.take(length)?)
            }
            5 => Value::Fixed32(u32::from_le_bytes(self.array()?)),
            wire_type => return Err(format!("field {number}: wire type {wire_type}")),
        };
        Ok((number, value))
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err("a number of more than 10 bytes".to_owned())
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.take(N as u64)?;
        bytes.try_into().map_err(|_| "cut off".to_owned())
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8]> {
        let left = self.message.len() - self.position;
        match usize::try_from(length) {
            Ok(length) if length <= left => {
                let start = self.position;
                self.position += length;
                Ok(&self.message[start..self.position])
            }
            _ => Err(format!("{length} bytes announced, {left} left")),
        }
    }
}
