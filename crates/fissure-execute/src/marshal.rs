//! Writes Python's `marshal` format, so that the interpreter's own C code builds the arguments.
//!
//! Only types that every Python from 3.4 on reads, and no references between objects.

/// Appends objects to a byte buffer.
#[derive(Debug, Default)]
pub(crate) struct Marshal {
    pub bytes: Vec<u8>,
}

impl Marshal {
    pub(crate) fn none(&mut self) {
        self.bytes.push(b'N');
    }

    pub(crate) fn boolean(&mut self, value: bool) {
        self.bytes.push(if value { b'T' } else { b'F' });
    }

    pub(crate) fn integer(&mut self, value: i128) {
        if let Ok(small) = i32::try_from(value) {
            self.bytes.push(b'i');
            self.bytes.extend_from_slice(&small.to_le_bytes());
            return;
        }
        // Sign and number of 15-bit digits, then the digits, least significant first.
        let mut rest = value.unsigned_abs();
        let mut digits = [0u16; 9];
        let mut count = 0i32;
        while rest != 0 {
            digits[count as usize] = (rest & 0x7fff) as u16;
            rest >>= 15;
            count += 1;
        }
        self.bytes.push(b'l');
        let signed = if value < 0 { -count } else { count };
        self.bytes.extend_from_slice(&signed.to_le_bytes());
        for digit in &digits[..count as usize] {
            self.bytes.extend_from_slice(&digit.to_le_bytes());
        }
    }

    pub(crate) fn float(&mut self, value: f64) {
        self.bytes.push(b'g');
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn complex(&mut self, re: f64, im: f64) {
        self.bytes.push(b'y');
        self.bytes.extend_from_slice(&re.to_le_bytes());
        self.bytes.extend_from_slice(&im.to_le_bytes());
    }

    pub(crate) fn text(&mut self, value: &str) {
        self.text_tagged(value, b'z');
    }

    /// A name that Python keeps once, so that keyword arguments are matched by address.
    pub(crate) fn name(&mut self, value: &str) {
        self.text_tagged(value, b'Z');
    }

    fn text_tagged(&mut self, value: &str, short_ascii: u8) {
        match u8::try_from(value.len()) {
            Ok(length) if value.is_ascii() => {
                self.bytes.push(short_ascii);
                self.bytes.push(length);
            }
            _ => {
                self.bytes.push(b'u');
                self.length(value.len());
            }
        }
        self.bytes.extend_from_slice(value.as_bytes());
    }

    pub(crate) fn binary(&mut self, value: &[u8]) {
        self.bytes.push(b's');
        self.length(value.len());
        self.bytes.extend_from_slice(value);
    }

    /// `items` objects must follow.
    pub(crate) fn list(&mut self, items: usize) {
        self.bytes.push(b'[');
        self.length(items);
    }

    /// `items` objects must follow.
    pub(crate) fn tuple(&mut self, items: usize) {
        match u8::try_from(items) {
            Ok(short) => self.bytes.extend_from_slice(&[b')', short]),
            Err(_) => {
                self.bytes.push(b'(');
                self.length(items);
            }
        }
    }

    /// Pairs of objects must follow, then [`Marshal::end_dict`].
    pub(crate) fn dict(&mut self) {
        self.bytes.push(b'{');
    }

    pub(crate) fn end_dict(&mut self) {
        self.bytes.push(b'0');
    }

    fn length(&mut self, length: usize) {
        // Longer than `marshal` can say: the reader then refuses the object, and the input is
        // reported as one that could not be built.
        let length = i32::try_from(length).unwrap_or(-1);
        self.bytes.extend_from_slice(&length.to_le_bytes());
    }
}
