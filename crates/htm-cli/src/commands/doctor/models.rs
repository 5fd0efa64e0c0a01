//! Whether the providers answer, and the models of the database are those of the configuration.

use htm_core::models::RegisteredModel;
use htm_core::provider::{ModelName, ProviderError, ProviderErrorKind, Purpose, TagOrigin};
use htm_core::providers::Provider;
use htm_core::tag::KnownTags;
use htm_core::{BreakerState, Error, Result};
use htm_runtime::Runtime;
use htm_runtime::active_model::{OtherActive, configured, other_active};
use htm_runtime::providers::local_facts;
use htm_worker::HARMLESS;

use super::{Finding, Findings, State, from_error, ok, warning};

/// Asks each configured provider once, and compares the models.
pub(super) async fn look(runtime: &Runtime, findings: &mut Findings<'_>) -> Result<()> {
    let models = runtime.htm().models()?.list().await?;
    look_at_embedder(runtime, &models, findings).await;
    look_at_active(runtime, &models, findings).await;
    look_at_tagger(runtime, findings).await;
    look_at_refiners(runtime, findings).await;
    Ok(())
}

/// Waits for an answer, and tells that it does.
async fn asking<T>(findings: &Findings<'_>, model: &ModelName, answer: impl Future<Output = T>) -> T {
    let bar = findings.output.progress_of_steps();
    bar.set_message(format!("asking {model}"));
    let answer = answer.await;
    bar.finish_and_clear();
    answer
}

/// Embeds a text, as a worker would.
async fn look_at_embedder(runtime: &Runtime, models: &[RegisteredModel], findings: &mut Findings<'_>) {
    const WHERE: &str = "the embedding provider";
    let own = match runtime.embedder() {
        Ok(embedder) => embedder,
        Err(error) => return findings.push(from_error(WHERE, &error)),
    };
    let model = own.model().clone();
    let registered = configured(runtime.config(), models).filter(|registered| registered.name == model);
    let answer = async {
        let embedder = match registered {
            Some(registered) if registered.is_in_use() => runtime.embedder_of(registered).await?,
            _ => own,
        };
        let embedded = embedder.embed(&[HARMLESS.to_owned()], Purpose::Document).await;
        let embeddings = embedded.map_err(ProviderError::about_harmless_text)?;
        Ok::<_, Error>(embeddings.first().map_or(0, |embedding| embedding.vector.len()))
    };
    let finding = match (asking(findings, &model, answer).await, registered) {
        (Ok(dimensions), Some(registered)) if dimensions != registered.dimensions => {
            let error = ProviderError::other_dimensions(&model, dimensions, registered.dimensions);
            from_error(WHERE, &error.into())
        }
        (Ok(dimensions), _) => ok(format!("{model} answers with {dimensions} dimensions")),
        (Err(error), _) => from_error(WHERE, &error),
    };
    let answers = finding.state == State::Ok;
    findings.push(finding);
    if answers && let Some(Ok(facts)) = local_facts(runtime.config(), runtime.paths(), &model) {
        findings.push(ok(format!("{model}: {facts}")));
    }
}

/// Checks whether the active model is the configured one. Another one works too, if its queries can be embedded here.
async fn look_at_active(runtime: &Runtime, models: &[RegisteredModel], findings: &mut Findings<'_>) {
    let Some(other) = other_active(runtime.config(), models) else { return };
    let OtherActive { active, what, help, .. } = other;
    let label = &active.label;
    if active.is_of_callers() {
        return findings.push(ok(format!("recall uses {label}: its vectors come from callers")));
    }
    findings.push(match runtime.embedder_of(active).await {
        Ok(_) => warning(what, help),
        Err(error) => {
            let what = format!("{what}; {label} cannot embed a query here: {error} [{}]", error.code());
            Finding { state: State::Error, what, help: Some(help) }
        }
    });
}

/// Has a language model tag a text. The others compute in this process: there is nobody to ask.
async fn look_at_tagger(runtime: &Runtime, findings: &mut Findings<'_>) {
    const WHERE: &str = "the tag provider";
    let tagger = match runtime.tagger() {
        Ok(tagger) => tagger,
        Err(error) => return findings.push(from_error(WHERE, &error)),
    };
    let model = tagger.model();
    if tagger.origin() != TagOrigin::Llm {
        return findings.push(ok(format!("{model} tags in this process")));
    }
    let (texts, tags) = ([HARMLESS.to_owned()], KnownTags::default());
    let answer = asking(findings, model, tagger.extract(&texts, &tags)).await;
    findings.push(match answer {
        Ok(_) => ok(format!("{model} tags")),
        Err(error) => from_language_model(WHERE, error),
    });
}

/// Asks the configured re-ranker and query expander.
async fn look_at_refiners(runtime: &Runtime, findings: &mut Findings<'_>) {
    match runtime.reranker() {
        Ok(Some(reranker)) => {
            let model = reranker.model();
            let texts = ["pong".to_owned()];
            let answer = asking(findings, model, reranker.rerank("ping", &texts)).await;
            findings.push(match answer {
                Ok(_) => ok(format!("{model} re-ranks")),
                Err(error) => from_error("the re-ranker", &error.into()),
            });
        }
        Ok(None) => {}
        Err(error) => findings.push(from_error("the re-ranker", &error)),
    }
    match runtime.expander() {
        Ok(Some(expander)) => {
            let model = expander.model();
            let answer = asking(findings, model, expander.expand(HARMLESS, 1)).await;
            findings.push(match answer {
                Ok(_) => ok(format!("{model} rephrases queries")),
                Err(error) => from_language_model("query expansion", error),
            });
        }
        Ok(None) => {}
        Err(error) => findings.push(from_error("query expansion", &error)),
    }
}

/// A language model may answer, and make nothing of such a text.
fn from_language_model(where_: &str, error: ProviderError) -> Finding {
    let is_unusable = error.kind == ProviderErrorKind::UnusableAnswer;
    let finding = from_error(where_, &error.about_harmless_text().into());
    match is_unusable {
        true => warning(finding.what, "a larger model may do better"),
        false => finding,
    }
}

pub(super) fn from_provider(provider: &Provider) -> Option<Finding> {
    let model = &provider.model;
    let is_left_alone = provider.breaker != BreakerState::Closed || provider.held_ms.is_some();
    let what = match provider.reason.as_deref() {
        reason if is_left_alone => {
            format!("{model} is not called at the moment: {}", reason.unwrap_or("no reason recorded"))
        }
        Some(reason) => format!("the last call of {model} failed: {reason}"),
        None => return None,
    };
    let help = format!("see `htm providers`; when the cause is fixed: `htm providers reset {model}`");
    Some(warning(what, help))
}
