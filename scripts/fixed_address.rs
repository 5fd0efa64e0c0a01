//! Links the programs of a development build for a fixed address; the build script of the packages that have them.
//!
//! Tests start these programs thousands of times. For a random address, 300,000 places of `htm` are relocated at each start,
//! which is half of a short command's processor time. Released programs stay at random addresses.

fn main() {
    // Without such a line, any change of the package would run this again.
    println!("cargo::rerun-if-env-changed=PROFILE");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|it| it == value);
    let is_linux = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if is_linux && is("PROFILE", "debug") {
        println!("cargo::rustc-link-arg=-no-pie");
    }
}
