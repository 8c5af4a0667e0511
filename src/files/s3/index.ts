import '../../assert-node.ts'
export { s3Files, type S3FilesOptions } from './s3-files.ts'
export type { ByteRange, FileAbout, FileStore } from '../file-store.ts'
export type { FileId } from '../../core/file.ts'
