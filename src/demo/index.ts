import '../assert-node.ts'
export { createDemoModels, demoModel, type DemoModelOptions } from './demo-model.ts'
export { type DemoNote, type DemoNotes, folderNotes, memoryNotes } from './demo-notes.ts'
export { createDemoTools, type DemoTools, type DemoToolsOptions } from './demo-tools.ts'
