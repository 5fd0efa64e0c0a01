//! The server's side: it listens on the socket of its place.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream as Probe;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use nix::unistd::geteuid;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{ACCEPTED, Asked, MAX_BYTES, Reply, Request, Socket};
use crate::output::Output;

/// The time between two attempts to listen at a place that another process has.
const RETRY: Duration = Duration::from_secs(5);

/// The pause after a failed accept, for example without free file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// The time for a client to send its command.
const REQUEST: Duration = Duration::from_secs(10);

/// The time for commands in hand when the server stops.
const GRACE: Duration = Duration::from_secs(10);

/// The most commands that are carried out at the same time. Further ones are carried out by their own processes.
const MOST: usize = 32;

/// Carries out the shell's commands by `answer`, which returns the exit code, until `stop` is cancelled. Of several
/// processes with one place the first serves, and after its end another. An error is only logged: without a server each
/// command does its own work.
pub(crate) async fn serve(
    place: &Socket,
    stop: &CancellationToken,
    answer: impl AsyncFn(Asked, &Output) -> u8,
) {
    let socket = place.socket();
    loop {
        match place.make().and_then(|()| bind(&socket)) {
            Ok((listener, inode)) => {
                accept(listener, stop, &answer).await;
                // The socket of a successor stays.
                if fs::metadata(&socket).is_ok_and(|file| file.ino() == inode) {
                    fs::remove_file(&socket).ok();
                }
                return;
            }
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            Err(error) => {
                tracing::debug!(%error, socket = %socket.display(), "the shell is not served");
                return;
            }
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = sleep(RETRY) => {}
        }
    }
}

/// Listens on a socket, and takes it over from a process that has died. Also returns the file's inode.
fn bind(socket: &Path) -> io::Result<(UnixListener, u64)> {
    let listener = match UnixListener::bind(socket) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => match Probe::connect(socket) {
            Err(refused) if refused.kind() == io::ErrorKind::ConnectionRefused => {
                fs::remove_file(socket)?;
                UnixListener::bind(socket)?
            }
            _ => return Err(error),
        },
        bound => bound?,
    };
    fs::set_permissions(socket, Permissions::from_mode(0o600))?;
    Ok((listener, fs::metadata(socket)?.ino()))
}

async fn accept(
    listener: UnixListener,
    stop: &CancellationToken,
    answer: &impl AsyncFn(Asked, &Output) -> u8,
) {
    let mut commands = FuturesUnordered::new();
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept(), if commands.len() < MOST => match accepted {
                Ok((stream, _)) => commands.push(carry_out(stream, answer)),
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection of the shell");
                    sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(()) = commands.next(), if !commands.is_empty() => {}
        }
    }
    drop(listener);
    if timeout(GRACE, commands.collect::<()>()).await.is_err() {
        tracing::warn!(grace_ms = GRACE.as_millis() as u64, "commands of the shell were ended");
    }
}

/// Carries out the command of a connection. One that panics has no answer, as if no server had run.
async fn carry_out(stream: UnixStream, answer: &impl AsyncFn(Asked, &Output) -> u8) {
    match AssertUnwindSafe(exchange(stream, answer)).catch_unwind().await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "a command of the shell was not carried out"),
        Err(_) => tracing::error!("a command of the shell panicked"),
    }
}

async fn exchange(mut stream: UnixStream, answer: &impl AsyncFn(Asked, &Output) -> u8) -> io::Result<()> {
    same_user(&stream)?;
    let mut request = Vec::new();
    timeout(REQUEST, (&mut stream).take(MAX_BYTES).read_to_end(&mut request)).await??;
    let Request { asked, form } = serde_json::from_slice(&request)?;
    drop(request);
    stream.write_all(&[ACCEPTED]).await?;
    let output = Output::kept(form);
    let exit_code = {
        let mut work = pin!(answer(asked, &output));
        loop {
            tokio::select! {
                biased;
                exit_code = &mut work => break exit_code,
                said = output.more() => reply(&mut stream, &Reply { said, exit_code: None }).await?,
            }
        }
    };
    reply(&mut stream, &Reply { said: output.said(), exit_code: Some(exit_code) }).await?;
    stream.shutdown().await
}

async fn reply(stream: &mut UnixStream, reply: &Reply) -> io::Result<()> {
    let mut line = serde_json::to_vec(reply)?;
    line.push(b'\n');
    stream.write_all(&line).await
}

/// Checks that the other side runs as this user.
pub(super) fn same_user(stream: &UnixStream) -> io::Result<()> {
    let uid = stream.peer_cred()?.uid();
    if uid == geteuid().as_raw() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("the other side runs as user {uid}")))
}
