//! The MCP server of HTM: tools, resources and prompts over [`htm_core::Htm`].
//!
//! [`McpServer`] implements rmcp's [`ServerHandler`](rmcp::ServerHandler). It knows no transport: the program serves it
//! over standard input and output, or HTTP. It knows no configuration either: [`McpOptions`] has what the program read.
//!
//! ```no_run
//! # async fn example(htm: htm_core::Htm) -> Result<(), Box<dyn std::error::Error>> {
//! use htm_mcp::{McpOptions, McpServer, ToolSet};
//! use rmcp::ServiceExt;
//! let server = McpServer::new(htm, McpOptions { tools: ToolSet::All, ..McpOptions::default() });
//! let (here, _there) = tokio::io::duplex(64 * 1024);
//! server.clone().serve(here).await?.waiting().await?;
//! server.close().await;
//! # Ok(())
//! # }
//! ```

mod arguments;
pub mod codes;
mod error;
mod messages;
mod open_robots;
mod options;
mod order;
mod prompts;
mod resources;
mod server;
mod text;
mod tools;

pub use messages::{id_of, ids_of, message};
pub use options::{McpOptions, ToolSet};
pub use order::Order;
pub use server::McpServer;
pub use text::{is_deceptive, plain, quoted_memories};
