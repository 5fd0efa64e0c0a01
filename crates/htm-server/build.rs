//! Builds the server again when the files of the console have changed: the macro that embeds them does not say so.

fn main() {
    println!("cargo::rerun-if-changed=console");
}
