//! The shell's side: a command is handed to a server, if one runs.

use std::time::Duration;
use std::{fmt, io};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::{ACCEPTED, Asked, MAX_BYTES, Reply, Socket, server};
use crate::output::{Form, Said};

/// The longest wait for a server to take a command. One that is stopped never does.
const ACCEPT: Duration = Duration::from_millis(200);

/// The process that carried out a command.
pub(crate) enum Answered {
    /// A server: the exit code.
    ByServer(u8),
    /// Nobody: no server runs.
    ByNobody,
    /// A server took the connection, and its answer was lost. It may have carried out the command, or still do it.
    Lost,
}

impl fmt::Display for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ByServer(..) => "a running server answered",
            Self::ByNobody => "no server was asked",
            Self::Lost => "a running server did not answer; the database is asked",
        })
    }
}

/// Hands a command to the server of a place, for an output of this form. `show` is given each part of the output as it comes.
pub(crate) async fn ask(place: &Socket, asked: &Asked, form: Form, show: impl Fn(&Said)) -> Answered {
    let Ok(stream) = UnixStream::connect(place.socket()).await else { return Answered::ByNobody };
    match exchange(stream, asked, form, show).await {
        Ok(exit_code) => Answered::ByServer(exit_code),
        Err(error) => {
            tracing::debug!(%error, "a server did not answer a command");
            Answered::Lost
        }
    }
}

async fn exchange(mut stream: UnixStream, asked: &Asked, form: Form, show: impl Fn(&Said)) -> io::Result<u8> {
    server::same_user(&stream)?;
    let request = serde_json::to_vec(&serde_json::json!({ "asked": asked, "form": form }))?;
    let accepted = async {
        stream.write_all(&request).await?;
        stream.shutdown().await?;
        stream.read_u8().await
    };
    if timeout(ACCEPT, accepted).await?? != ACCEPTED {
        return Err(io::Error::other("it did not take the command"));
    }
    let mut replies = BufReader::new(stream.take(MAX_BYTES));
    loop {
        let mut line = Vec::new();
        replies.read_until(b'\n', &mut line).await?;
        let Reply { said, exit_code } = serde_json::from_slice(&line)?;
        show(&said);
        if let Some(exit_code) = exit_code {
            return Ok(exit_code);
        }
    }
}
