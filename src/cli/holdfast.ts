// Nothing else is imported before the version is known: an old Node would stop at its first new word.
try {
  await import('../assert-node.ts')
} catch (error) {
  console.error((error as Error).message)
  process.exit(2)
}
// An older Node announces its SQLite as experimental; a log in JSON would begin with that line.
const emitWarning = process.emitWarning.bind(process) as (...args: readonly unknown[]) => void
process.emitWarning = (...args: readonly unknown[]): void => {
  if (!String(args[0]).startsWith('SQLite is an experimental')) emitWarning(...args)
}
const { runCli } = await import('./main.ts')
const code = await runCli(process.argv.slice(2))
// Once everything is written: a timer that something left behind is no reason to stay.
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)))

export {}
