//! `fissure serve`: a dashboard that follows a run.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use fissure_campaign::{replay_finding, stored_findings};
use fissure_execute::ScriptOptions;
use fissure_report::run::RunError;
use fissure_report::serve::{ReplayAnswer, ServeError, Server, Token, serve};

use super::replay::{LimitArgs, interpreter};
use crate::console;
use crate::exit_status::{self, ExitStatus, usage};
use crate::target::TargetArgs;

/// Show a run in the browser, live while it goes on
///
/// Prints the address to open. Without its token the dashboard can be read from this machine but
/// runs nothing; bound to another address than loopback, nothing is answered without it. Counts for
/// Prometheus are at /metrics. Ctrl-C ends it.
#[derive(Args, Debug)]
pub(crate) struct ServeArgs {
    /// Folder of the run; it may be empty until the run begins
    #[arg(value_name = "RUN")]
    run: PathBuf,

    /// Port; 0 takes a free one
    #[arg(long, default_value_t = 8765)]
    port: u16,

    /// Address to listen on; others than loopback need the token for everything
    #[arg(long, value_name = "IP", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    address: IpAddr,

    /// The token, instead of a random one
    #[arg(
        long,
        env = "FISSURE_TOKEN",
        hide_env_values = true,
        value_name = "TEXT"
    )]
    token: Option<String>,

    /// Print the addresses as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    target: TargetArgs,

    #[command(flatten)]
    limits: LimitArgs,
}

/// A shorter one could be guessed.
const TOKEN_CHARS: usize = 8;

pub(crate) fn run(args: ServeArgs) -> anyhow::Result<ExitCode> {
    let token = match &args.token {
        Some(text) if text.chars().count() < TOKEN_CHARS => {
            return Err(usage(format!(
                "a token has at least {TOKEN_CHARS} characters"
            )));
        }
        Some(text) => Token::chosen(text.clone()),
        None => Token::random().context("failed to make a token")?,
    };
    exit_status::outlive_closed_pipes();
    let word = token.text().to_owned();
    let scratch = tempfile::tempdir().context("failed to make a temporary folder")?;
    let options = args.limits.script_options(scratch.path())?;
    let target = args.target.clone();
    let limits = args.limits.clone();
    let server = Server {
        folder: args.run,
        address: SocketAddr::new(args.address, args.port),
        token,
        replayer: Box::new(move |folder| {
            replay(folder, &target, &limits, &options).map_err(|error| format!("{error:#}"))
        }),
    };
    let ready = |address: SocketAddr| {
        let dashboard = format!("http://{address}/?token={word}");
        let metrics = format!("http://{address}/metrics");
        let text = if args.json {
            format!(
                "{}\n",
                serde_json::json!({"dashboard": dashboard, "metrics": metrics})
            )
        } else if console::quiet() {
            format!("{dashboard}\n")
        } else {
            format!("dashboard: {dashboard}\nmetrics:   {metrics}\nCtrl-C ends it\n")
        };
        let mut output = std::io::stdout();
        // Whoever reads this through a pipe waits for it; a closed one ends nothing.
        let _ = output.write_all(text.as_bytes());
        let _ = output.flush();
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("failed to start the server")?;
    let stop = async {
        // Without a handler the default still ends the program.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let result = runtime.block_on(serve(server, ready, stop));
    // A script that is still being run is not waited for.
    runtime.shutdown_background();
    match result {
        Ok(()) => Ok(ExitStatus::NoFinding.into()),
        Err(
            error @ (ServeError::InUse(_)
            | ServeError::Run(RunError::Missing(_) | RunError::Several { .. })),
        ) => Err(usage(error.to_string())),
        Err(error) => Err(error.into()),
    }
}

fn replay(
    folder: &Path,
    target: &TargetArgs,
    limits: &LimitArgs,
    options: &ScriptOptions,
) -> anyhow::Result<ReplayAnswer> {
    let stored = stored_findings(folder)?
        .into_iter()
        .next()
        .context("only findings of fissure fuzz and campaign can be run again here")??;
    let python = interpreter(target, &stored.finding.api, limits)?;
    let replay = replay_finding(&stored, &python, options)?;
    Ok(ReplayAnswer {
        outcome: replay.name().to_owned(),
        detail: replay.detail().to_owned(),
    })
}
