//! `signatures.json`: the parameters of each API, by position and by name, and for a class those
//! of the call on the constructed object.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value as Json;

/// The types of that file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CentaurType {
    Tensor,
    TensorList,
    Integer,
    Float,
    Boolean,
    String,
    Tuple,
    List,
    Dtype,
    DimensionNumbers,
}

/// Parameters of one call, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CallSignature {
    pub args: Params,
    pub kwargs: Params,
}

/// One API, or one of several signatures of it (`name_2`).
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CentaurSignature {
    #[serde(flatten)]
    pub call: CallSignature,
    /// For a class: the call on the constructed object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inner: Option<CallSignature>,
}

/// Names and types; the order of the file is the order of the parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Params(pub Vec<(String, CentaurType)>);

/// The signatures of the file in its order. The first versions of the file have the parameters
/// directly below the name; they are read as parameters by position.
pub fn read_signatures(text: &str) -> Result<Vec<(String, CentaurSignature)>, serde_json::Error> {
    let entries: Entries<Json> = serde_json::from_str(text)?;
    // A second reading keeps the order of parameters, which a JSON value has lost.
    let is_flat = |entry: &Json| entry.get("args").is_none_or(|args| !args.is_object());
    if entries.0.iter().all(|(_, entry)| is_flat(entry)) {
        let flat: Entries<Params> = serde_json::from_str(text)?;
        let signature = |args| CentaurSignature {
            call: CallSignature {
                args,
                kwargs: Params::default(),
            },
            inner: None,
        };
        let entries = flat.0.into_iter();
        return Ok(entries
            .map(|(name, args)| (name, signature(args)))
            .collect());
    }
    let entries: Entries<CentaurSignature> = serde_json::from_str(text)?;
    Ok(entries.0)
}

/// The file with these signatures, indented as theirs.
pub fn write_signatures(signatures: &[(String, CentaurSignature)]) -> String {
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    Entries(signatures.to_vec())
        .serialize(&mut serializer)
        .expect("names and words are always JSON");
    String::from_utf8(bytes).expect("JSON is UTF-8")
}

/// A JSON object whose order matters.
pub(super) struct Entries<T>(pub Vec<(String, T)>);

impl<T: Serialize> Serialize for Entries<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Collect<T> {
            type Value = Entries<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Collect(std::marker::PhantomData))
    }
}

impl Serialize for Params {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Entries(self.0.clone()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Params {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Params(Entries::deserialize(deserializer)?.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_flat_form_is_read_in_order() {
        let text = r#"{"argmin": {"input": "tensor", "dim": "integer", "args": "boolean"}}"#;
        let read = read_signatures(text).expect("it is read");
        assert_eq!(
            read[0].1.call.args.0,
            [
                ("input".to_owned(), CentaurType::Tensor),
                ("dim".to_owned(), CentaurType::Integer),
                ("args".to_owned(), CentaurType::Boolean),
            ]
        );
    }

    #[test]
    fn an_unknown_type_is_an_error() {
        let text = r#"{"f": {"args": {"x": "quaternion"}, "kwargs": {}}}"#;
        let error = read_signatures(text).expect_err("there is no such type");
        assert!(error.to_string().contains("quaternion"), "{error}");
    }
}
