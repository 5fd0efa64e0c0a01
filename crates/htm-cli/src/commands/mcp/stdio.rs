//! Standard input and output as a transport of the protocol: a line is a message, or a batch of messages.
//!
//! Detached threads read and write them. A read of tokio's own standard input cannot be cancelled: the process would
//! wait at its end for the client.

mod line;

use std::collections::VecDeque;
use std::future::ready;
use std::io::{self, Write};
use std::time::Duration;

use htm_mcp::Order;
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ErrorData, JsonRpcError, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use self::line::Line;

/// The lines that are read ahead.
const AHEAD: usize = 4;

/// The longest wait for a client to read the last answers.
const FLUSH: Duration = Duration::from_secs(2);

/// The threads of a transport.
pub(super) struct Stdio {
    written: oneshot::Receiver<()>,
}

impl Stdio {
    /// Connects a transport with standard input and output. `stop` is cancelled if standard output breaks.
    pub(super) fn connect(stop: CancellationToken) -> (Lines, Self) {
        let (lines, input) = mpsc::channel(AHEAD);
        // Without a bound: the requests in hand, which have none, are what waits in it.
        let (output, texts) = mpsc::unbounded_channel();
        let (done, written) = oneshot::channel();
        std::thread::spawn(move || read(&lines));
        std::thread::spawn(move || {
            write(texts, &stop);
            // Nobody waits if the process ends otherwise.
            let _ = done.send(());
        });
        let lines =
            Lines { input, output, messages: VecDeque::new(), batches: Vec::new(), order: Order::default() };
        (lines, Self { written })
    }

    /// Waits until everything that was sent is written. The transport must have been dropped.
    pub(super) async fn finish(self) {
        if tokio::time::timeout(FLUSH, self.written).await.is_err() {
            tracing::warn!("the client did not read the last answers");
        }
    }
}

/// Passes on the lines of standard input until its end.
fn read(lines: &mpsc::Sender<Line>) {
    let mut stdin = io::stdin().lock();
    while let Ok(Some(line)) = line::next(&mut stdin) {
        if lines.blocking_send(line).is_err() {
            return;
        }
    }
}

/// Writes lines to standard output until the transport is dropped.
fn write(mut texts: mpsc::UnboundedReceiver<String>, stop: &CancellationToken) {
    let mut stdout = io::stdout().lock();
    while let Some(mut text) = texts.blocking_recv() {
        text.push('\n');
        if stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).is_err() {
            stop.cancel();
            return;
        }
    }
}

/// The transport.
pub(super) struct Lines {
    input: mpsc::Receiver<Line>,
    output: mpsc::UnboundedSender<String>,
    /// The messages that are not received yet.
    messages: VecDeque<ClientJsonRpcMessage>,
    batches: Vec<Batch>,
    order: Order,
}

/// The answers to a batch, which go out together.
#[derive(Default)]
struct Batch {
    /// The requests that are not answered yet.
    open: Vec<RequestId>,
    answers: Vec<String>,
}

impl Lines {
    /// Reads a line. Anything but a message is answered here.
    fn read(&mut self, line: Line) -> io::Result<()> {
        let text = match line {
            Line::Whole(text) => text,
            Line::TooLong(id) => {
                let what = format!("a line has at most {} bytes", line::MOST);
                return self.refuse(id, ErrorData::invalid_request(what, None));
            }
        };
        // A byte order mark may be before JSON.
        let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&text);
        if text.trim_ascii().is_empty() {
            return Ok(());
        }
        match serde_json::from_slice(text) {
            Ok(Value::Array(values)) if !values.is_empty() => {
                let mut batch = Batch::default();
                for value in &values {
                    self.read_message(value, &mut batch)?;
                }
                self.batches.push(batch);
                self.settle(self.batches.len() - 1)
            }
            Ok(Value::Array(_)) => {
                self.refuse(None, ErrorData::invalid_request("a batch has at least one message", None))
            }
            Ok(value) => {
                let mut alone = Batch::default();
                self.read_message(&value, &mut alone)?;
                alone.answers.into_iter().try_for_each(|text| self.write(text))
            }
            Err(error) => {
                let what = format!("the line cannot be read: {}", htm_core::unreadable(&error));
                let flaw = ErrorData::parse_error(what, None);
                let ids = htm_mcp::ids_of(text).into_iter();
                let answers = ids.map(|id| text_of(&JsonRpcError::new(Some(id), flaw.clone())));
                match answers.collect::<io::Result<Vec<_>>>()? {
                    answers if answers.is_empty() => self.refuse(htm_mcp::id_of(text), flaw),
                    answers => self.write(format!("[{}]", answers.join(","))),
                }
            }
        }
    }

    fn read_message(&mut self, value: &Value, batch: &mut Batch) -> io::Result<()> {
        match htm_mcp::message(value) {
            Ok(mut message) => {
                self.order.place(&mut message);
                if let ClientJsonRpcMessage::Request(request) = &message {
                    batch.open.push(request.id.clone());
                }
                self.messages.push_back(message);
            }
            Err(Some(error)) => batch.answers.push(text_of(&error)?),
            Err(None) => tracing::debug!("a message without an answer was no message of the protocol"),
        }
        Ok(())
    }

    /// Writes an answer, or keeps it for those of its batch.
    fn answer(&mut self, message: &ServerJsonRpcMessage) -> io::Result<()> {
        let text = text_of(message)?;
        let id = match message {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        match id.and_then(|id| self.take_out(id)) {
            Some(place) => {
                self.batches[place].answers.push(text);
                self.settle(place)
            }
            None => self.write(text),
        }
    }

    /// Takes a request out of its batch. Returns the place of the batch.
    fn take_out(&mut self, id: &RequestId) -> Option<usize> {
        let place = self.batches.iter().position(|batch| batch.open.contains(id))?;
        self.batches[place].open.retain(|it| it != id);
        Some(place)
    }

    /// Writes the answers of a batch if none is missing. A batch of notifications has none.
    fn settle(&mut self, place: usize) -> io::Result<()> {
        if !self.batches[place].open.is_empty() {
            return Ok(());
        }
        let answers = self.batches.swap_remove(place).answers;
        match answers.is_empty() {
            true => Ok(()),
            false => self.write(format!("[{}]", answers.join(","))),
        }
    }

    /// A cancelled request gets no answer, so its batch does not wait for it.
    fn note(&mut self, message: &ClientJsonRpcMessage) -> io::Result<()> {
        let ClientJsonRpcMessage::Notification(it) = message else { return Ok(()) };
        let ClientNotification::CancelledNotification(cancelled) = &it.notification else { return Ok(()) };
        match cancelled.params.request_id.as_ref().and_then(|id| self.take_out(id)) {
            Some(place) => self.settle(place),
            None => Ok(()),
        }
    }

    fn refuse(&self, id: Option<RequestId>, error: ErrorData) -> io::Result<()> {
        self.write(text_of(&JsonRpcError::new(id, error))?)
    }

    fn write(&self, text: String) -> io::Result<()> {
        self.output.send(text).map_err(|_gone| io::ErrorKind::BrokenPipe.into())
    }
}

fn text_of(message: &impl serde::Serialize) -> io::Result<String> {
    Ok(serde_json::to_string(message)?)
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        ready(self.answer(&message))
    }

    /// The next message. Nothing is lost if the call is cancelled: it waits for the next line alone.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(message) = self.messages.pop_front() {
                self.note(&message).ok()?;
                return Some(message);
            }
            let line = self.input.recv().await?;
            self.read(line).ok()?;
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.input.close();
        Ok(())
    }
}
