//! The addresses to listen on, the certificate, and the service that may listen there already.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::time::Duration;

use portcullis_config::{Config, TlsConfig};
use portcullis_egress::Client;
use portcullis_http::listener::TlsIdentity;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::report::Report;

const ABOUT: &str = "ports";
/// The longest wait for a service on this machine.
const WAIT: Duration = Duration::from_secs(3);
/// The most bytes of the answer of a probe.
const ANSWER: usize = 4 << 10;

/// Looks whether the addresses are free or have this service, and whether the certificate can be used.
pub(super) async fn examine(config: &Config, report: &mut Report) {
    // Before the ports are tried, which this process holds then.
    let holder = match ask(probed(config), "live").await {
        Ok(()) => Holder::Service,
        Err(_) if config.edge.tls.is_some() => Holder::Unknown,
        Err(_) => Holder::Other,
    };
    port("LISTEN_ADDR", config.listen, holder, report);
    if let Some(address) = config.edge.admin_listen {
        port("ADMIN_LISTEN_ADDR", address, holder, report);
    }
    let Some(TlsConfig { certificate, key }) = config.edge.tls.clone() else { return };
    match TlsIdentity::read(certificate, key) {
        Ok(_) => report.fine("tls", "the certificate has its key"),
        Err(fault) => report.wrong("tls", fault.to_string()),
    }
}

/// The program that has an address that is not free.
#[derive(Clone, Copy)]
enum Holder {
    /// The service that runs with these settings.
    Service,
    /// The service with TLS, which is not asked, or another program.
    Unknown,
    Other,
}

/// Looks whether an address is free. If it is taken, the `holder` has it.
fn port(variable: &str, address: SocketAddr, holder: Holder, report: &mut Report) {
    match TcpListener::bind(address) {
        Ok(_) => report.fine(ABOUT, format!("{variable}: `{address}` is free")),
        Err(fault) if fault.kind() == ErrorKind::AddrInUse => {
            taken(variable, address, holder, report);
        }
        Err(fault) => {
            report.wrong(ABOUT, format!("{variable}: cannot listen on `{address}`: {fault}"));
        }
    }
}

fn taken(variable: &str, address: SocketAddr, holder: Holder, report: &mut Report) {
    match holder {
        Holder::Service => {
            report.fine(ABOUT, format!("{variable}: the service listens on `{address}`"));
        }
        Holder::Unknown => {
            let other = "is taken, by this service with TLS or by another program";
            report.warning(ABOUT, format!("{variable}: `{address}` {other}"));
        }
        Holder::Other => {
            let other = "has another program: stop it, or name another address";
            report.wrong(ABOUT, format!("{variable}: `{address}` {other}"));
        }
    }
}

/// Asks the service that listens whether it is ready. With TLS, whose certificate has another name than this address, it
/// only connects.
pub(super) async fn ready(config: &Config, report: &mut Report) {
    let address = probed(config);
    let asked = match config.edge.tls {
        Some(_) => connect(address).await,
        None => ask(address, "ready").await,
    };
    match asked {
        Ok(()) => report.fine("service", format!("`{address}` is ready")),
        Err(fault) => report.wrong("service", format!("`{address}` is not ready: {fault:#}")),
    }
}

/// The address of the listener with the probes.
fn probed(config: &Config) -> SocketAddr {
    config.edge.admin_listen.unwrap_or(config.listen)
}

/// Asks a probe of the service at `address`.
async fn ask(address: SocketAddr, probe: &str) -> anyhow::Result<()> {
    let url = format!("http://{}/healthz/{probe}", reachable(address)).parse()?;
    let answer = Client::trusted(WAIT)?.get(url, ANSWER).await?;
    let answer: serde_json::Value = serde_json::from_slice(&answer)?;
    anyhow::ensure!(answer["status"] == "ok", "it does not answer as Portcullis");
    Ok(())
}

async fn connect(address: SocketAddr) -> anyhow::Result<()> {
    timeout(WAIT, TcpStream::connect(reachable(address))).await??;
    Ok(())
}

/// Returns an address by which this machine reaches a listener on `address`.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}
