//! The PostgreSQL that the tests run on.

/// A server in use.
pub struct Server {
    url: String,
}

impl Server {
    /// Its URL, with a database that is there.
    pub fn url(&self) -> &str {
        &self.url
    }
}

/// The server of `HTM_TEST_DATABASE_URL`.
pub async fn get() -> Server {
    Server { url: std::env::var("HTM_TEST_DATABASE_URL").expect("HTM_TEST_DATABASE_URL") }
}
