//! Connections whose client does not read.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// A stream that fails when a write waits for some time while nothing is read either. The connection then ends and
/// releases what its answer holds, such as a snapshot.
///
/// Reading counts because a client may send a whole import before it reads a result.
pub(crate) struct Impatient<S> {
    stream: S,
    time: Duration,
    /// The end of the time, while a write waits.
    end: Option<Pin<Box<Sleep>>>,
}

impl<S> Impatient<S> {
    pub(crate) fn new(stream: S, time: Duration) -> Self {
        Self { stream, time, end: None }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Impatient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = ready!(Pin::new(&mut self.stream).poll_read(context, buffer));
        let time = self.time;
        if let Some(end) = &mut self.end {
            end.as_mut().reset(Instant::now() + time);
        }
        Poll::Ready(read)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Impatient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(written) = Pin::new(&mut self.stream).poll_write(context, bytes) {
            self.end = None;
            return Poll::Ready(written);
        }
        let time = self.time;
        let end = self.end.get_or_insert_with(|| Box::pin(sleep(time)));
        ready!(end.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    const TIME: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn a_write_waits_no_longer_than_its_time() {
        let (_client, server) = duplex(8);
        let mut server = Impatient::new(server, TIME);
        server.write_all(b"12345678").await.unwrap();
        let started = Instant::now();
        let failed = server.write_all(b"9").await.unwrap_err();
        assert_eq!((failed.kind(), started.elapsed().as_secs()), (io::ErrorKind::TimedOut, 60));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_sends_is_waited_for() {
        let (mut client, server) = duplex(8);
        let (mut reads, mut writes) = tokio::io::split(Impatient::new(server, TIME));
        let writing = tokio::spawn(async move { writes.write_all(b"123456789").await });
        let reading = tokio::spawn(async move {
            for _ in 0..10 {
                reads.read_exact(&mut [0]).await.unwrap();
            }
            reads
        });
        for _ in 0..10 {
            sleep(TIME / 2).await;
            client.write_all(b"x").await.unwrap();
        }
        client.read_exact(&mut [0; 9]).await.unwrap();
        writing.await.unwrap().unwrap();
        reading.await.unwrap();
    }
}
