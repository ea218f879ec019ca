#!/bin/bash
# Batch script of a Fissure campaign: one job array for each phase, one task for each shard.
# `fissure campaign template` prints it; give an edited copy with --template. Known words in double
# braces: phase, folder, command, partition, time, mem, cpus.
#SBATCH --job-name=fissure-{{ phase }}
#SBATCH --output="{{ folder }}/slurm/{{ phase }}-%a.log"
#SBATCH --open-mode=append
#SBATCH --requeue
{% if partition %}#SBATCH --partition={{ partition }}
{% endif -%}
{% if time %}#SBATCH --time={{ time }}
{% endif -%}
{% if mem %}#SBATCH --mem={{ mem }}
{% endif -%}
{% if cpus %}#SBATCH --cpus-per-task={{ cpus }}
{% endif %}
# What a task needs before it can run (modules, variables) goes here.

exec {{ command }} "$SLURM_ARRAY_TASK_ID"
