// Imported first by every entry that runs on a server. An old Node would otherwise stop at the first
// built-in module or method that it lacks, with a message about that. Only what every Node has may be
// used here, and nothing beside this file may import `node:sqlite` statically: a module that does not
// exist stops the program before the first line of any file runs.

const version = typeof process === 'undefined' ? undefined : process.versions?.node
const [major = 0, minor = 0] = (version ?? '').split('.').map(Number)

// A browser, and everything else that is not Node, has no version and passes.
if (version !== undefined && (major < 22 || (major === 22 && minor < 13))) {
  const error = new Error(`Holdfast needs Node 22.13 or newer; this is Node ${version}.`)
  // Without the stack: the message is complete, and the place in this file helps nobody.
  error.stack = String(error)
  throw error
}

export {}
