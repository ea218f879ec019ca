//! Data as it stands in a page.

use std::io::Write;

use base64::Engine;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

/// JSON, compressed by gzip, as base64: a script of the page unpacks it with what every browser has
/// since 2023. The texts of findings are much alike, so that a page is a tenth of what it would be.
/// Base64 also means that nothing in it can end the element it stands in.
pub(super) fn pack(data: &impl Serialize) -> String {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    serde_json::to_writer(&mut encoder, data).expect("plain data always serialises");
    let packed = encoder
        .flush()
        .and_then(|()| encoder.finish())
        .expect("writing to memory cannot fail");
    base64::engine::general_purpose::STANDARD.encode(packed)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn packed_data_is_the_same_after_unpacking_and_cannot_leave_its_element() {
        let text = "</script><!--<script>&\u{2028}";
        let packed = pack(&text);
        assert!(!packed.contains(['<', '>', '&']), "{packed}");
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(packed)
            .unwrap();
        let mut json = String::new();
        flate2::read::GzDecoder::new(bytes.as_slice())
            .read_to_string(&mut json)
            .unwrap();
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
