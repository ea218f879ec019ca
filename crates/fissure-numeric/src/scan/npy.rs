//! Reads the arrays of `inputs_failed.npy`, as far as they are plain numbers.

use std::path::Path;

use serde_json::Value;

/// Elements beyond which values are no longer worth being written out as text.
const MOST: usize = 10_000;

/// A field of the record, or the array itself: its name, its type, its sides.
struct Field {
    name: String,
    dtype: String,
    shape: Vec<usize>,
}

/// Name and nested values of each array in the file; `None` where it is not one that is understood.
pub(super) fn read(path: &Path) -> Option<Vec<(String, Value)>> {
    let bytes = std::fs::read(path).ok()?;
    let rest = bytes.strip_prefix(b"\x93NUMPY")?;
    let (header, mut data) = match rest {
        [1, _, low, high, rest @ ..] => {
            rest.split_at_checked(usize::from(u16::from_le_bytes([*low, *high])))?
        }
        _ => return None,
    };
    let fields = fields(std::str::from_utf8(header).ok()?)?;
    let mut arrays = Vec::new();
    for field in fields {
        let count = field
            .shape
            .iter()
            .try_fold(1_usize, |product, side| product.checked_mul(*side))?;
        let width: usize = field.dtype.get(2..)?.parse().ok()?;
        let (own, rest) = data.split_at_checked(count.checked_mul(width)?)?;
        data = rest;
        if count > MOST {
            return None;
        }
        let numbers: Option<Vec<Value>> = own
            .chunks_exact(width.max(1))
            .map(|bytes| number(&field.dtype, bytes))
            .collect();
        arrays.push((field.name, nested(&field.shape, &mut numbers?.into_iter())));
    }
    Some(arrays)
}

/// What the header says: `{'descr': [('x', '<f4', (8, 3))], 'fortran_order': False, 'shape': (), }`, or
/// `{'descr': '<f4', 'fortran_order': False, 'shape': (8, 3), }`.
fn fields(header: &str) -> Option<Vec<Field>> {
    let after = |text: &'_ str, key: &str| text.split_once(key).map(|(_, rest)| rest.to_owned());
    if !header.contains("'fortran_order': False") {
        return None;
    }
    let shape = after(header, "'shape': ")?;
    let shape = sides(shape.trim_start_matches('(').split(')').next()?)?;
    let description = after(header, "'descr': ")?;
    if let Some(list) = description.strip_prefix('[') {
        // An array of records would need to be taken apart.
        if !shape.is_empty() {
            return None;
        }
        let list = list.split(']').next()?;
        let mut fields = Vec::new();
        for entry in list.split("('").skip(1) {
            let (name, rest) = entry.split_once("', '")?;
            let (dtype, rest) = rest.split_once('\'')?;
            let shape = match rest.split_once('(') {
                Some((_, shape)) => sides(shape.split(')').next()?)?,
                None => Vec::new(),
            };
            fields.push(Field {
                name: name.to_owned(),
                dtype: dtype.to_owned(),
                shape,
            });
        }
        return Some(fields);
    }
    let dtype = description.strip_prefix('\'')?.split('\'').next()?;
    Some(vec![Field {
        name: String::new(),
        dtype: dtype.to_owned(),
        shape,
    }])
}

fn sides(text: &str) -> Option<Vec<usize>> {
    text.split(',')
        .map(str::trim)
        .filter(|side| !side.is_empty())
        .map(|side| side.parse().ok())
        .collect()
}

/// One number; NaN and infinities, which JSON does not have, as words.
fn number(dtype: &str, bytes: &[u8]) -> Option<Value> {
    let float = |number: f64| match number.is_finite() {
        true => Value::from(number),
        false => Value::from(number.to_string()),
    };
    Some(match (dtype, bytes.len()) {
        ("<f2", 2) => float(half::f16::from_le_bytes(bytes.try_into().ok()?).into()),
        ("<f4", 4) => float(f32::from_le_bytes(bytes.try_into().ok()?).into()),
        ("<f8", 8) => float(f64::from_le_bytes(bytes.try_into().ok()?)),
        ("<i4", 4) => Value::from(i32::from_le_bytes(bytes.try_into().ok()?)),
        ("<i8", 8) => Value::from(i64::from_le_bytes(bytes.try_into().ok()?)),
        ("|b1", 1) => Value::from(bytes[0] != 0),
        ("|u1", 1) => Value::from(bytes[0]),
        ("|i1", 1) => Value::from(i8::from_le_bytes(bytes.try_into().ok()?)),
        _ => return None,
    })
}

fn nested(shape: &[usize], numbers: &mut impl Iterator<Item = Value>) -> Value {
    match shape {
        [] => numbers.next().unwrap_or(Value::Null),
        [side, rest @ ..] => (0..*side).map(|_| nested(rest, numbers)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn file(header: &str, data: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        std::fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    #[test]
    fn arrays_are_read_with_their_names_and_nested_as_they_are() {
        let numbers: Vec<u8> = [1.5_f32, f32::NAN, 2.0, 3.0]
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .chain(7_i64.to_le_bytes())
            .collect();
        let (_folder, path) = file(
            "{'descr': [('x', '<f4', (2, 2)), ('n', '<i8')], 'fortran_order': False, 'shape': (), }\n",
            &numbers,
        );
        assert_eq!(
            read(&path).unwrap(),
            [
                ("x".to_owned(), json!([[1.5, "NaN"], [2.0, 3.0]])),
                ("n".to_owned(), json!(7))
            ]
        );
    }

    #[test]
    fn what_is_no_such_file_is_left_alone() {
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }";
        let (_folder, path) = file(header, &[0; 8]);
        assert_eq!(read(&path), None, "cut off");
        let (_folder, path) = file("{'descr': '<f8', 'shape': (99999999999999999999,)}", b"");
        assert_eq!(read(&path), None, "nonsense");
        assert_eq!(read(Path::new("nowhere.npy")), None);
    }
}
