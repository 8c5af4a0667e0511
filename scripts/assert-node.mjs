// Loaded before every script with --import. Plain JavaScript, so that an old Node, which cannot read
// the .ts files that follow, can still say what is wrong.
const NEEDED = 26

if (Number.parseInt(process.versions.node, 10) < NEEDED) {
  console.error(
    `This project runs on Node ${NEEDED}, which \`npm install\` puts into node_modules; ` +
      `this is Node ${process.versions.node}.\n` +
      'Run `npm install`, then start the command through npm, as in `npm test`.',
  )
  process.exit(1)
}
