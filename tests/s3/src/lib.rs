//! A real S3 server on the loopback address, which keeps its objects in a temporary folder. It can go down and come back.

#![expect(clippy::expect_used, reason = "it is test code")]

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::thread::{self, JoinHandle};

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

/// The bucket that the server has.
const BUCKET: &str = "records";
const ACCESS_KEY: &str = "access-key-of-tests";
const SECRET_KEY: &str = "secret-key-of-tests";

/// A server of S3, which runs until it is dropped.
#[derive(Debug)]
pub struct S3Server {
    folder: TempDir,
    address: SocketAddr,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl S3Server {
    /// Starts a server with an empty bucket.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join(BUCKET)).expect("a bucket");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let running = Some(serve(listener, folder.path().to_owned()));
        Self { folder, address, running }
    }

    /// Closes the port and every connection.
    pub fn go_down(&mut self) {
        if let Some(Running { stop, thread }) = self.running.take() {
            // It may have ended by itself; then the join says why.
            let _ = stop.send(());
            thread.join().expect("the server ends");
        }
    }

    /// Serves at the same address again, with the objects that it has.
    pub fn come_back(&mut self) {
        let listener = TcpListener::bind(self.address).expect("the port is still free");
        self.running = Some(serve(listener, self.folder.path().to_owned()));
    }

    /// Returns the URL of a part of the bucket.
    pub fn url(&self, prefix: &str) -> String {
        format!("s3://{BUCKET}/{prefix}")
    }

    /// Returns the variables of a client.
    pub fn variables(&self) -> [(&'static str, String); 5] {
        [
            ("AWS_ACCESS_KEY_ID", ACCESS_KEY.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", SECRET_KEY.to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
            ("AWS_ENDPOINT_URL", format!("http://{}", self.address)),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
        ]
    }

    /// Returns the folder with the objects of the bucket.
    pub fn objects(&self) -> PathBuf {
        self.folder.path().join(BUCKET)
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        self.go_down();
    }
}

fn serve(listener: TcpListener, folder: PathBuf) -> Running {
    let (stop, stopped) = oneshot::channel();
    let thread = thread::spawn(move || {
        let runtime = Runtime::new().expect("a runtime");
        // Its end closes the connections.
        runtime.block_on(async {
            tokio::select! {
                () = accept(listener, folder) => {}
                _ = stopped => {}
            }
        });
        runtime.shutdown_background();
    });
    Running { stop, thread }
}

async fn accept(listener: TcpListener, folder: PathBuf) {
    let mut builder = S3ServiceBuilder::new(FileSystem::new(folder).expect("the folder"));
    builder.set_auth(SimpleAuth::from_single(ACCESS_KEY, SECRET_KEY));
    let service = builder.build();
    listener.set_nonblocking(true).expect("a socket of the runtime");
    let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
    loop {
        let (socket, _) = listener.accept().await.expect("a connection");
        let service = service.clone();
        tokio::spawn(async move {
            let builder = Builder::new(TokioExecutor::new());
            // A client that goes away is no fault of the server.
            let _ = builder.serve_connection(TokioIo::new(socket), service).await;
        });
    }
}
