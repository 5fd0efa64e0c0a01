//! Generated requests to every path. `./justw fuzz-api` takes ten minutes for it; this is a short run.

use std::path::Path;
use std::process::Command;

use htm_core::{NewApiKey, Role, Stage};
use htm_tests::drain;

use super::Served;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "packages of another language; `./justw test-frameworks`"]
async fn no_generated_request_breaks_the_server_or_its_document() {
    let served = Served::new().await;
    served.remember("one").await;
    drain(&served.db, Stage::Embed).await;
    let key = served.db.htm().create_api_key(&NewApiKey::new(Role::Admin)).await.unwrap();
    htm_tests::wait_until(|| async { served.get("/v1/stats").await.status == 401 }).await;
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("schemathesis");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/fuzz_api.py");
    let mut command = Command::new("python3");
    command.arg(script).arg(place).args(["15", &served.base]).env("HTM_FUZZ_KEY", key.secret.expose());
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap();
    let said = match &output {
        Ok(output) => {
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
        }
        Err(error) => format!("python3: {error}"),
    };
    match output.ok().and_then(|output| output.status.code()) {
        Some(0) => {}
        Some(1) => panic!("{said}"),
        _ => htm_tests::skipped(&format!("Schemathesis cannot be fetched: {}", said.trim())),
    }
}
