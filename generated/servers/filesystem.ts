// Made by pimcp from the tools of "filesystem". Do not edit; run `pimcp compile`.
/* eslint-disable */

import { type CallOptions, client, type ToolResult } from "pimcp/codegen/v1";

export interface CreateDirectoryInput {
  path: string;
}

export interface CreateDirectoryOutput {
  content: string;
}

export interface DirectoryTreeInput {
  /** (default []) */
  excludePatterns?: string[];
  path: string;
}

export interface DirectoryTreeOutput {
  content: string;
}

export interface GetFileInfoInput {
  path: string;
}

export interface GetFileInfoOutput {
  content: string;
}

export interface ListAllowedDirectoriesInput {
  [k: string]: unknown;
}

export interface ListAllowedDirectoriesOutput {
  content: string;
}

export interface ListDirectoryInput {
  path: string;
}

export interface ListDirectoryOutput {
  content: string;
}

export interface ListDirectoryWithSizesInput {
  path: string;
  /**
   * Sort entries by name or size
   * (default "name")
   */
  sortBy?: "name" | "size";
}

export interface ListDirectoryWithSizesOutput {
  content: string;
}

export interface ReadFileInput {
  /** If provided, returns only the first N lines of the file */
  head?: number;
  path: string;
  /** If provided, returns only the last N lines of the file */
  tail?: number;
}

export interface ReadFileOutput {
  content: string;
}

export interface ReadMediaFileInput {
  path: string;
}

export interface ReadMediaFileOutput {
  content: ({
    data: string;
    mimeType: string;
    type: "image" | "audio";
  } | {
    resource: {
      blob: string;
      mimeType?: string;
      uri: string;
    };
    type: "resource";
  })[];
}

export interface ReadMultipleFilesInput {
  /**
   * Array of file paths to read. Each path must be a string pointing to a valid file within allowed directories.
   * (at least 1 items)
   */
  paths: string[];
}

export interface ReadMultipleFilesOutput {
  content: string;
}

export interface ReadTextFileInput {
  /** If provided, returns only the first N lines of the file */
  head?: number;
  path: string;
  /** If provided, returns only the last N lines of the file */
  tail?: number;
}

export interface ReadTextFileOutput {
  content: string;
}

export interface SearchFilesInput {
  /** (default []) */
  excludePatterns?: string[];
  path: string;
  pattern: string;
}

export interface SearchFilesOutput {
  content: string;
}

/** Reads and writes files below tests/ */
export interface Filesystem {
  /**
   * Create Directory
   *
   * Create a new directory or ensure a directory exists. Can create multiple nested directories in one operation. If the directory already exists, this operation will succeed silently. Perfect for setting up directory structures for projects or ensuring required paths exist. Only works within allowed directories.
   */
  createDirectory(args: CreateDirectoryInput, options?: CallOptions): Promise<ToolResult<CreateDirectoryOutput>>;

  /**
   * Directory Tree
   *
   * Get a recursive tree view of files and directories as a JSON structure. Each entry includes 'name', 'type' (file/directory), and 'children' for directories. Files have no children array, while directories always have a children array (which may be empty). The output is formatted with 2-space indentation for readability. Only works within allowed directories.
   */
  directoryTree(args: DirectoryTreeInput, options?: CallOptions): Promise<ToolResult<DirectoryTreeOutput>>;

  /**
   * Get File Info
   *
   * Retrieve detailed metadata about a file or directory. Returns comprehensive information including size, creation time, last modified time, permissions, and type. This tool is perfect for understanding file characteristics without reading the actual content. Only works within allowed directories.
   */
  getFileInfo(args: GetFileInfoInput, options?: CallOptions): Promise<ToolResult<GetFileInfoOutput>>;

  /**
   * List Allowed Directories
   *
   * Returns the list of directories that this server is allowed to access. Subdirectories within these allowed directories are also accessible. Use this to understand which directories and their nested paths are available before trying to access files.
   */
  listAllowedDirectories(args?: ListAllowedDirectoriesInput, options?: CallOptions): Promise<ToolResult<ListAllowedDirectoriesOutput>>;

  /**
   * List Directory
   *
   * Get a detailed listing of all files and directories in a specified path. Results clearly distinguish between files and directories with [FILE] and [DIR] prefixes. This tool is essential for understanding directory structure and finding specific files within a directory. Only works within allowed directories.
   */
  listDirectory(args: ListDirectoryInput, options?: CallOptions): Promise<ToolResult<ListDirectoryOutput>>;

  /**
   * List Directory with Sizes
   *
   * Get a detailed listing of all files and directories in a specified path, including sizes. Results clearly distinguish between files and directories with [FILE] and [DIR] prefixes. This tool is useful for understanding directory structure and finding specific files within a directory. Only works within allowed directories.
   */
  listDirectoryWithSizes(args: ListDirectoryWithSizesInput, options?: CallOptions): Promise<ToolResult<ListDirectoryWithSizesOutput>>;

  /**
   * Read File (Deprecated)
   *
   * Read the complete contents of a file as text. DEPRECATED: Use read_text_file instead.
   */
  readFile(args: ReadFileInput, options?: CallOptions): Promise<ToolResult<ReadFileOutput>>;

  /**
   * Read Media File
   *
   * Read a file and return it as a base64-encoded content block with its MIME type. Image and audio files are returned as image/audio content; any other file type is returned as an embedded resource. Only works within allowed directories.
   */
  readMediaFile(args: ReadMediaFileInput, options?: CallOptions): Promise<ToolResult<ReadMediaFileOutput>>;

  /**
   * Read Multiple Files
   *
   * Read the contents of multiple files simultaneously. This is more efficient than reading files one by one when you need to analyze or compare multiple files. Each file's content is returned with its path as a reference. Failed reads for individual files won't stop the entire operation. Only works within allowed directories.
   */
  readMultipleFiles(args: ReadMultipleFilesInput, options?: CallOptions): Promise<ToolResult<ReadMultipleFilesOutput>>;

  /**
   * Read Text File
   *
   * Read the complete contents of a file from the file system as text. Handles various text encodings and provides detailed error messages if the file cannot be read. Use this tool when you need to examine the contents of a single file. Use the 'head' parameter to read only the first N lines of a file, or the 'tail' parameter to read only the last N lines of a file. Operates on the file as text regardless of extension. Only works within allowed directories.
   */
  readTextFile(args: ReadTextFileInput, options?: CallOptions): Promise<ToolResult<ReadTextFileOutput>>;

  /**
   * Search Files
   *
   * Recursively search for files and directories matching a pattern. The patterns should be glob-style patterns that match paths relative to the working directory. Use pattern like '*.ext' to match files in current directory, and '**\/*.ext' to match files in all subdirectories. Returns full paths to all matching items. Great for finding files when you don't know their exact location. Only searches within allowed directories.
   */
  searchFiles(args: SearchFilesInput, options?: CallOptions): Promise<ToolResult<SearchFilesOutput>>;
}

export const filesystem: Filesystem = /* @__PURE__ */ client<Filesystem>(import.meta.url, "filesystem", {
  createDirectory: "create_directory",
  directoryTree: "directory_tree",
  getFileInfo: "get_file_info",
  listAllowedDirectories: "list_allowed_directories",
  listDirectory: "list_directory",
  listDirectoryWithSizes: "list_directory_with_sizes",
  readFile: "read_file",
  readMediaFile: "read_media_file",
  readMultipleFiles: "read_multiple_files",
  readTextFile: "read_text_file",
  searchFiles: "search_files",
});
