// Nothing else is imported before the version is checked: an old Node would fail at the first syntax that it does not
// support.
try {
  await import('../assert-node.ts')
} catch (error) {
  console.error((error as Error).message)
  process.exit(2)
}
// An older Node warns that its SQLite is experimental; a JSON log would begin with that line.
const emitWarning = process.emitWarning.bind(process) as (...args: readonly unknown[]) => void
process.emitWarning = (...args: readonly unknown[]): void => {
  if (!String(args[0]).startsWith('SQLite is an experimental')) emitWarning(...args)
}
const { runCli } = await import('./main.ts')
const code = await runCli(process.argv.slice(2))
// After everything is written: a timer that is still active must not keep the process alive.
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)))

export {}
