import packageJson from '../package.json' with { type: 'json' }

console.log(`Holdfast ${packageJson.version}, on Node ${process.versions.node}.

There is no server to start yet. What there is:
  npm test         everything: format, lint, types and all tests, with a real PostgreSQL
  npm run check    the quick part of it
  npm run format   writes the format that check asks for
  npm run build    makes the published package in dist/
  npm run bench    measures

README.md says what Holdfast is.`)
