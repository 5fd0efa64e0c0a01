//! Standard input and output as one stream.
//!
//! Detached threads read and write them. A read of tokio's own standard input cannot be cancelled: the process would
//! wait at its end for the client.

use std::io::{Read, Write};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// The bytes between the threads and the stream.
const BUFFER: usize = 64 * 1024;

/// The longest wait for a client to read the last answers.
const FLUSH: Duration = Duration::from_secs(2);

/// The threads of a stream.
pub(super) struct Stdio {
    written: oneshot::Receiver<()>,
}

impl Stdio {
    /// Connects a stream with standard input and output. `stop` is cancelled if standard output breaks.
    pub(super) fn connect(stop: CancellationToken) -> (DuplexStream, Self) {
        let (here, there) = tokio::io::duplex(BUFFER);
        let (output, input) = tokio::io::split(there);
        let (done, written) = oneshot::channel();
        let runtime = Handle::current();
        std::thread::spawn({
            let runtime = runtime.clone();
            move || read(&runtime, input)
        });
        std::thread::spawn(move || {
            write(&runtime, output, &stop);
            // Nobody waits if the process ends otherwise.
            let _ = done.send(());
        });
        (here, Self { written })
    }

    /// Waits until everything that was sent is written. The stream must have been dropped.
    pub(super) async fn finish(self) {
        if tokio::time::timeout(FLUSH, self.written).await.is_err() {
            tracing::warn!("the client did not read the last answers");
        }
    }
}

/// Passes on standard input until its end.
fn read(runtime: &Handle, mut input: WriteHalf<DuplexStream>) {
    let mut buffer = vec![0; BUFFER];
    let mut stdin = std::io::stdin().lock();
    loop {
        let read = match stdin.read(&mut buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) | Ok(0) => break,
            Ok(read) => read,
        };
        if runtime.block_on(input.write_all(&buffer[..read])).is_err() {
            return;
        }
    }
    // The server reads the end. If it has gone away, nobody does.
    let _ = runtime.block_on(input.shutdown());
}

/// Passes on to standard output until the stream is dropped.
fn write(runtime: &Handle, mut output: ReadHalf<DuplexStream>, stop: &CancellationToken) {
    let mut buffer = vec![0; BUFFER];
    let mut stdout = std::io::stdout().lock();
    while let Ok(read @ 1..) = runtime.block_on(output.read(&mut buffer)) {
        if stdout.write_all(&buffer[..read]).and_then(|()| stdout.flush()).is_err() {
            stop.cancel();
            return;
        }
    }
}
