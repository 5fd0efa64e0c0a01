//! Signed JWTs (RFC 7515, 7519) and the keys that verify them (RFC 7517). Signatures are verified by ring, as those of TLS.
//!
//! Libraries for JWTs bring a second cryptography: one with an open advisory on RSA, or one that needs a C build.
//!
//! An algorithm is one of the table below, or the token is refused: there is neither `none` nor a shared secret here.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::*;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The claims of a token.
pub(super) type Claims = Map<String, Value>;

/// How a token is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) enum Algorithm {
    RS256,
    RS384,
    RS512,
    PS256,
    PS384,
    PS512,
    ES256,
    ES384,
    EdDSA,
}

/// The header of a token.
#[derive(Debug, Deserialize)]
pub(super) struct Header {
    pub(super) alg: Algorithm,
    /// The name of the key.
    pub(super) kid: Option<String>,
    /// The type of the token.
    pub(super) typ: Option<String>,
    /// Extensions that have to be understood.
    crit: Option<Value>,
}

/// A token whose signature nobody has looked at yet.
pub(super) struct Unverified<'a> {
    pub(super) header: Header,
    /// The signed bytes.
    message: &'a [u8],
    claims: Vec<u8>,
    signature: Vec<u8>,
}

impl<'a> Unverified<'a> {
    /// The parts of a token. None: it is no JWT, it is signed in another way, or it has unknown extensions.
    pub(super) fn of(text: &'a str) -> Option<Self> {
        let (message, signature) = text.rsplit_once('.')?;
        let (header, claims) = message.split_once('.')?;
        let header: Header = serde_json::from_slice(&decoded(header)?).ok()?;
        let (claims, signature) = (decoded(claims)?, decoded(signature)?);
        let message = message.as_bytes();
        header.crit.is_none().then_some(Self { header, message, claims, signature })
    }

    /// The claims, if the key has signed them.
    pub(super) fn verified(self, key: &Key) -> Option<Claims> {
        key.has_signed(self.header.alg, self.message, &self.signature)?;
        serde_json::from_slice(&self.claims).ok()
    }
}

/// A public key.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub(super) kid: Option<String>,
    /// The only algorithm that it is for.
    alg: Option<String>,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

/// A key as it is published.
#[derive(Deserialize)]
struct Jwk {
    kty: String,
    #[serde(rename = "use")]
    usage: Option<String>,
    alg: Option<String>,
    kid: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl Key {
    /// Reads a published key. None: it is of another kind, or for another use.
    pub(super) fn of(published: Value) -> Option<Self> {
        let Jwk { kty, usage, alg, kid, crv, n, e, x, y } = serde_json::from_value(published).ok()?;
        let number = |text: Option<String>| {
            let bytes = decoded(&text?)?;
            // ring takes no leading zeros.
            Some(bytes.into_iter().skip_while(|byte| *byte == 0).collect::<Vec<u8>>())
        };
        let bytes = |text: Option<String>| decoded(&text?);
        let kind = match (kty.as_str(), crv.as_deref()) {
            ("RSA", _) => Kind::Rsa { n: number(n)?, e: number(e)? },
            ("EC", Some("P-256")) => Kind::P256([vec![4], bytes(x)?, bytes(y)?].concat()),
            ("EC", Some("P-384")) => Kind::P384([vec![4], bytes(x)?, bytes(y)?].concat()),
            ("OKP", Some("Ed25519")) => Kind::Ed25519(bytes(x)?),
            _ => return None,
        };
        usage.is_none_or(|usage| usage == "sig").then_some(Self { kid, alg, kind })
    }

    /// Whether it is for signatures of an algorithm.
    pub(super) fn is_for(&self, algorithm: Algorithm) -> bool {
        use Algorithm::*;
        let is_of_kind = match &self.kind {
            Kind::Rsa { .. } => matches!(algorithm, RS256 | RS384 | RS512 | PS256 | PS384 | PS512),
            Kind::P256(_) => algorithm == ES256,
            Kind::P384(_) => algorithm == ES384,
            Kind::Ed25519(_) => algorithm == EdDSA,
        };
        is_of_kind && self.alg.as_ref().is_none_or(|alg| *alg == format!("{algorithm:?}"))
    }

    /// Something, if the signature is right.
    fn has_signed(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> Option<()> {
        use Algorithm::*;
        if !self.is_for(algorithm) {
            return None;
        }
        let verified = match &self.kind {
            Kind::Rsa { n, e } => {
                let parameters = match algorithm {
                    RS256 => &RSA_PKCS1_2048_8192_SHA256,
                    RS384 => &RSA_PKCS1_2048_8192_SHA384,
                    RS512 => &RSA_PKCS1_2048_8192_SHA512,
                    PS256 => &RSA_PSS_2048_8192_SHA256,
                    PS384 => &RSA_PSS_2048_8192_SHA384,
                    PS512 => &RSA_PSS_2048_8192_SHA512,
                    ES256 | ES384 | EdDSA => return None,
                };
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            Kind::P256(point) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            Kind::P384(point) => {
                UnparsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, point).verify(message, signature)
            }
            Kind::Ed25519(point) => UnparsedPublicKey::new(&ED25519, point).verify(message, signature),
        };
        verified.ok()
    }
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Algorithm::*;
    use super::*;

    #[test]
    fn a_token_is_verified_by_its_own_key_alone() {
        // Made with OpenSSL. Its private keys are not kept.
        let made: Value = serde_json::from_str(include_str!("tokens.json")).unwrap();
        let made = made.as_array().unwrap();
        let keys: Vec<Key> = made.iter().map(|one| Key::of(one["jwk"].clone()).unwrap()).collect();
        let mut verified = Vec::new();
        for (at, one) in made.iter().enumerate() {
            for token in one["tokens"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()) {
                for (other, key) in keys.iter().enumerate() {
                    let claims = Unverified::of(token).unwrap().verified(key);
                    assert_eq!(claims.is_some_and(|claims| claims["sub"] == "ada"), at == other, "{token}");
                }
                let (message, signature) = token.rsplit_once('.').unwrap();
                // Another text under the same signature, and another signature of the same text.
                let other_text = format!("{}.{signature}", message.replacen(".e", ".f", 1));
                let other_signature = format!("{message}.{}", signature.chars().rev().collect::<String>());
                for forged in [other_text, other_signature, format!("{message}.")] {
                    let claims = Unverified::of(&forged).and_then(|forged| forged.verified(&keys[at]));
                    assert_eq!(claims, None, "{forged}");
                }
                verified.push(Unverified::of(token).unwrap().header.alg);
            }
        }
        assert_eq!(verified, [RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, EdDSA]);
    }

    #[test]
    fn what_is_signed_in_no_known_way_is_no_token() {
        let token = |header: Value| format!("{}.e30.AA", URL_SAFE_NO_PAD.encode(header.to_string()));
        assert!(Unverified::of(&token(json!({"alg": "RS256"}))).is_some());
        for header in [
            json!({"alg": "none"}),
            json!({"alg": "HS256"}),
            json!({"alg": "rs256"}),
            json!({"alg": "ES256K"}),
            json!({}),
            json!([]),
            json!({"alg": "RS256", "crit": ["b64"]}),
        ] {
            assert!(Unverified::of(&token(header.clone())).is_none(), "{header}");
        }
        for text in ["", ".", "..", "e30", "e30.e30", "e30.e30.AA.AA", "e30.e30.A=", "\u{e9}.\u{e9}.\u{e9}"] {
            assert!(Unverified::of(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_key_is_for_its_algorithm_and_its_use() {
        let key = |more: Value| {
            let mut jwk = json!({"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"});
            jwk.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            Key::of(jwk)
        };
        assert!(key(json!({})).unwrap().is_for(ES256));
        assert!(key(json!({"use": "sig", "alg": "ES256"})).unwrap().is_for(ES256));
        for other in [RS256, PS256, ES384, EdDSA] {
            assert!(!key(json!({})).unwrap().is_for(other), "{other:?}");
        }
        assert!(!key(json!({"alg": "ES384"})).unwrap().is_for(ES256));
        for other in [
            json!({"use": "enc"}),
            json!({"kty": "oct", "k": "AA"}),
            json!({"crv": "secp256k1"}),
            json!({"x": "="}),
        ] {
            assert!(key(other.clone()).is_none(), "{other}");
        }
    }
}
