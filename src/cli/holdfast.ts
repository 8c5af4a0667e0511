#!/usr/bin/env node
// Nothing is imported before the version is known: an old Node would stop at its first new word.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < 22 || (major === 22 && minor < 13)) {
  console.error(
    `holdfast needs Node 22.13 or newer, and this is Node ${process.versions.node}. ` +
      'Install a newer one from https://nodejs.org and try again.',
  )
  process.exit(2)
}
const { runCli } = await import('./main.ts')
const code = await runCli(process.argv.slice(2))
// Once everything is written: a timer that something left behind is no reason to stay.
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)))

export {}
