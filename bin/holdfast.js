#!/usr/bin/env node
// The command. In the published package it is what was built; in a clone, where nothing is built, it is
// the sources. Plain JavaScript, so that an old Node can say what is needed.
import { existsSync } from 'node:fs'

const fromSources = new URL('../scripts/run-holdfast.mjs', import.meta.url)
const built = new URL('../dist/cli/holdfast.js', import.meta.url)

await import((existsSync(fromSources) ? fromSources : built).href)
