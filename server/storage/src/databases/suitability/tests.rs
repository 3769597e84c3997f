//! Servers that are refused: databases of PostgreSQL, and a pooler between.

use std::str::FromStr;
use std::sync::Arc;

use portcullis_test_postgres::Cluster;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::Mutex;

use super::*;
use crate::store::Store;

async fn checked(url: &str, connections: u32) -> Result<(), String> {
    let options = PgConnectOptions::from_str(url).expect("a URL");
    check(&options, connections).await.map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_database_with_another_encoding_is_refused() {
    let Some(cluster) = Cluster::shared() else { return };
    let database = cluster.database();
    let (name, latin) = (database.name(), format!("{}_latin", database.name()));
    database.sql(&format!(
        "CREATE DATABASE {latin} OWNER portcullis ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
    ));
    let opened = Store::open(&database.url().replace(name, &latin)).await;
    let text = opened.expect_err("it cannot store every text").to_string();
    database.sql(&format!("DROP DATABASE {latin} WITH (FORCE)"));
    assert!(text.contains("the encoding `UTF8`, but it has `LATIN1`: create one with"), "{text}");
    checked(database.url(), 16).await.expect("UTF8 is as it should be");
}

#[tokio::test]
async fn a_server_with_too_few_connections_is_refused() {
    let Some(cluster) = Cluster::shared() else { return };
    let database = cluster.database();
    let limit = |count: u32| {
        database.sql(&format!("ALTER DATABASE {} CONNECTION LIMIT {count}", database.name()))
    };
    limit(17);
    let text = checked(database.url(), 16).await.expect_err("one is missing");
    assert!(
        text.contains("room for 18 connections of one replica, but the server allows 17"),
        "{text}"
    );
    limit(18);
    checked(database.url(), 16).await.expect("there is room");
}

/// Passes the simple queries of every client to one session of the server at `socket`, as a pooler in transaction mode does.
async fn pool_transactions(listener: TcpListener, socket: String, startup: Vec<u8>) {
    let mut server = UnixStream::connect(socket).await.expect("a server");
    server.write_all(&startup).await.expect("a server");
    let greeting = Arc::new(until_ready(&mut server).await);
    let server = Arc::new(Mutex::new(server));
    while let Ok((client, _)) = listener.accept().await {
        tokio::spawn(serve(client, Arc::clone(&greeting), Arc::clone(&server)));
    }
}

async fn serve(mut client: TcpStream, greeting: Arc<Vec<u8>>, server: Arc<Mutex<UnixStream>>) {
    let length = client.read_u32().await.expect("a startup message");
    let mut parameters = vec![0; usize::try_from(length).expect("small") - 4];
    client.read_exact(&mut parameters).await.expect("a startup message");
    client.write_all(&greeting).await.expect("it waits");
    while let Ok((kind, message)) = message(&mut client).await
        && kind == b'Q'
    {
        let mut server = server.lock().await;
        server.write_all(&message).await.expect("a server");
        client.write_all(&until_ready(&mut server).await).await.expect("it waits");
    }
}

/// Reads a message of the protocol: its kind, and all its bytes.
async fn message(stream: &mut (impl AsyncReadExt + Unpin)) -> std::io::Result<(u8, Vec<u8>)> {
    let kind = stream.read_u8().await?;
    let length = stream.read_u32().await?;
    let mut body = vec![0; usize::try_from(length).expect("small") - 4];
    stream.read_exact(&mut body).await?;
    Ok((kind, [&[kind][..], &length.to_be_bytes(), &body].concat()))
}

/// Reads what the server says until it is ready for a query.
async fn until_ready(server: &mut UnixStream) -> Vec<u8> {
    let mut said = Vec::new();
    loop {
        let (kind, bytes) = message(server).await.expect("a server");
        said.extend(bytes);
        if kind == b'Z' {
            return said;
        }
    }
}

#[tokio::test]
async fn a_pooler_in_transaction_mode_is_refused() {
    let Some(cluster) = Cluster::shared() else { return };
    let database = cluster.database();
    let options = PgConnectOptions::from_str(database.url()).expect("a URL");
    let folder = options.get_socket().expect("a socket").display();
    let socket = format!("{folder}/.s.PGSQL.{}", options.get_port());
    let (user, name) = (options.get_username(), database.name());
    let parameters = format!("user\0{user}\0database\0{name}\0\0");
    let length = u32::try_from(parameters.len() + 8).expect("small");
    let head = [length.to_be_bytes(), (3_u32 << 16).to_be_bytes()].concat();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let startup = [head, parameters.into_bytes()].concat();
    tokio::spawn(pool_transactions(listener, socket, startup));
    let url = format!("postgres://{user}@127.0.0.1:{port}/{name}?sslmode=disable");
    let text = checked(&url, 1).await.expect_err("a session is not of one connection");
    assert!(text.contains("a pooler in transaction mode") && text.contains("pgbouncer"), "{text}");
    checked(database.url(), 1).await.expect("the control: without the pooler it is suitable");
}
