//! What can be asked for.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use tokio_stream::wrappers::WatchStream;
use tokio_stream::{Stream, StreamExt};

use super::guard::{Asked, guard, knows_token};
use super::pages::Kept;
use super::{Seen, Shared, metrics};
use crate::html::{self, ApiRow, FindingDetail, FindingRow};
use crate::run::Run;

/// Requests with this header come from our page: another site's cannot set it.
const OUR_HEADER: &str = "x-fissure";

/// Shown until the run begins; looks again by itself.
const WAITING: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
<meta name=\"color-scheme\" content=\"light dark\"><meta http-equiv=\"refresh\" content=\"2\">\
<link rel=\"icon\" href=\"data:,\"><title>Fissure</title></head><body style=\"font-family: system-ui; padding: 2rem\">\
<h1>The run has not begun</h1><p>This page looks again every two seconds.</p></body></html>";

pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/report.html", get(report))
        .route("/coverage.html", get(coverage))
        .route("/metrics", get(counts))
        .route("/api/events", get(events))
        .route("/api/parts", get(parts))
        .route("/api/apis", get(apis))
        .route("/api/findings", get(findings))
        .route("/api/findings/{id}", get(finding))
        .route("/api/findings/{id}/replay", post(replay))
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), guard))
        .with_state(shared)
}

fn not_begun() -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, "the run has not begun").into_response()
}

async fn page(State(shared): State<Arc<Shared>>) -> Response {
    let page = built(&shared, |shared| &shared.pages.live, html::live_page).await;
    page.unwrap_or_else(|| Html(WAITING).into_response())
}

/// The page to keep.
async fn report(State(shared): State<Arc<Shared>>) -> Response {
    let page = built(&shared, |shared| &shared.pages.report, html::page).await;
    page.unwrap_or_else(not_begun)
}

/// What was reached of the library's code, as it was last written into the run's folder.
async fn coverage(State(shared): State<Arc<Shared>>) -> Response {
    let path = shared.with_run(|run| run.info.folder.join(html::COVERAGE_PAGE));
    let read = tokio::task::spawn_blocking(move || std::fs::read_to_string(path?).ok());
    match read.await.ok().flatten() {
        Some(page) => Html(page).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// A page, made once for each state of the run, away from the threads that answer.
async fn built(
    shared: &Arc<Shared>,
    kept: fn(&Shared) -> &Kept,
    make: fn(&Run) -> String,
) -> Option<Response> {
    let shared = Arc::clone(shared);
    let page = tokio::task::spawn_blocking(move || {
        let now = *shared.seen.borrow();
        // Made of a copy, so that those who ask for something else need not wait.
        let of_copy = || shared.with_run(Run::clone).map(|run| make(&run));
        kept(&shared).get(now, of_copy)
    });
    let page = page.await.ok()??;
    let html = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
    Some((html, page).into_response())
}

async fn counts(State(shared): State<Arc<Shared>>) -> Response {
    // No counts are the truth before the run begins.
    let text = shared.with_run(metrics::metrics).unwrap_or_default();
    ([(header::CONTENT_TYPE, metrics::CONTENT_TYPE)], text).into_response()
}

async fn parts(State(shared): State<Arc<Shared>>) -> Response {
    match shared.with_run(html::live_parts) {
        Some(parts) => Json(parts).into_response(),
        None => not_begun(),
    }
}

async fn apis(State(shared): State<Arc<Shared>>) -> Response {
    let rows = shared.with_run(|run| {
        let rows: Vec<ApiRow<'_>> = run.apis.iter().map(ApiRow::from).collect();
        Json(rows).into_response()
    });
    rows.unwrap_or_else(not_begun)
}

async fn findings(State(shared): State<Arc<Shared>>) -> Response {
    let rows = shared.with_run(|run| {
        let rows: Vec<FindingRow<'_>> = run.findings.iter().map(FindingRow::from).collect();
        Json(rows).into_response()
    });
    rows.unwrap_or_else(not_begun)
}

fn no_finding() -> Response {
    (StatusCode::NOT_FOUND, "there is no such finding").into_response()
}

async fn finding(State(shared): State<Arc<Shared>>, Path(id): Path<String>) -> Response {
    let found = shared.with_run(|run| {
        run.finding(&id)
            .map(|finding| Json(FindingDetail::from(finding)).into_response())
    });
    found.map_or_else(not_begun, |found| found.unwrap_or_else(no_finding))
}

/// Runs the script of a finding again.
async fn replay(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Response {
    if !knows_token(&shared, &asked, &headers) || !headers.contains_key(OUR_HEADER) {
        let text = "only a page opened by the address that fissure serve printed may do this";
        return (StatusCode::FORBIDDEN, text).into_response();
    }
    // The folder comes from the run, never from the request.
    let folder = shared.with_run(|run| {
        let finding = run.finding(&id)?;
        Some(run.info.folder.join(&finding.folder))
    });
    let Some(Some(folder)) = folder else {
        return no_finding();
    };
    let Ok(turn) = shared.replaying.try_lock() else {
        return (StatusCode::CONFLICT, "another one is being run").into_response();
    };
    let worker = Arc::clone(&shared);
    let answer = tokio::task::spawn_blocking(move || (worker.replayer)(&folder)).await;
    drop(turn);
    match answer {
        Ok(Ok(answer)) => Json(answer).into_response(),
        Ok(Err(problem)) => (StatusCode::INTERNAL_SERVER_ERROR, problem).into_response(),
        Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, "it could not be run").into_response(),
    }
}

/// Says when something is new, and how much there is.
async fn events(
    State(shared): State<Arc<Shared>>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let changes = WatchStream::new(shared.seen.subscribe()).map(|seen: Seen| {
        let data = serde_json::to_string(&seen).expect("plain data always serialises");
        Ok(Event::default().event("change").data(data))
    });
    Sse::new(changes).keep_alive(KeepAlive::default())
}
