//! What the scan takes as inputs, where the arguments of a target function come from, lower
//! precision, and the interface of the soft assertions. Each script scans its programs in one
//! interpreter, so that torch is imported once, and prints a line per sentence.

use std::path::PathBuf;

use crate::support::{all_hold, registry_file, self_test};

fn every_sentence_holds(script: &str) {
    holds_in(fissure_testing::torch_python(), script);
}

fn holds_in(python: Option<PathBuf>, script: &str) {
    let Some(python) = python else { return };
    let registry = registry_file();
    all_hold(&self_test(&python, script, [registry.path()]), 1);
}

#[test]
fn numbers_sizes_images_batches_and_files_are_inputs() {
    every_sentence_holds("inputs_self_test.py");
}

#[test]
fn target_functions_get_arguments_they_accept() {
    every_sentence_holds("targets_self_test.py");
}

#[test]
fn programs_as_strangers_write_them_are_judged_like_their_twins() {
    every_sentence_holds("wild_self_test.py");
}

#[test]
fn numbers_at_their_ends_and_points_that_coincide_are_tried() {
    every_sentence_holds("edges_self_test.py");
}

#[test]
fn programs_around_other_libraries_are_followed() {
    every_sentence_holds("strangers_self_test.py");
}

#[test]
fn whole_numbers_and_frames_are_inputs() {
    every_sentence_holds("data_self_test.py");
}

#[test]
fn lower_precision_is_judged_and_soft_assertions_have_the_slopes_of_their_distances() {
    every_sentence_holds("search_self_test.py");
}

#[test]
fn arguments_are_what_the_program_itself_makes_and_describes() {
    every_sentence_holds("arguments_self_test.py");
}

#[test]
fn what_training_through_a_function_does_is_seen() {
    every_sentence_holds("training_self_test.py");
}

#[test]
fn arguments_are_what_the_function_uses_them_as() {
    every_sentence_holds("masks_self_test.py");
}

#[test]
fn results_that_are_right_are_no_findings_and_slopes_that_are_gone_are() {
    let script = "results_self_test.py";
    every_sentence_holds(script);
    holds_in(fissure_testing::library_python("jax", "jax==0.7.1"), script);
    holds_in(
        fissure_testing::library_python("tensorflow", "tensorflow-cpu==2.21.0"),
        script,
    );
}
