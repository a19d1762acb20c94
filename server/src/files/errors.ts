/** In words for the user, why the system refused to read a path. */
export function whyUnreadable(error: unknown): string {
  switch (error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined) {
    case 'EACCES':
    case 'EPERM':
      return 'no permission to read it';
    case 'ENOENT':
      return 'it does not exist';
    case 'EISDIR':
      return 'it is a folder';
    case 'ELOOP':
      return 'its symbolic links form a loop';
    case 'EMFILE':
    case 'ENFILE':
      return 'too many files are open on this machine; try again';
    default:
      return 'it cannot be read';
  }
}
