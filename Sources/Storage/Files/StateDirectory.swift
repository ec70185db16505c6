import ProcessSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// An account's directory, which other users cannot change and whose files they cannot read.
struct StateDirectory: Sendable {
    let path: String

    var databasePath: String { Self.databasePath(in: self.path) }

    static func databasePath(in directory: String) -> String { "\(directory)/state.sqlite" }

    /// Creates the directory and its parents if needed, with mode 0700.
    ///
    /// An existing directory may be readable for other users, since its files are not, but not writable.
    init(preparing path: String) throws(StoreError) {
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        try StoreFile.createDirectories(self.path)
        var status = stat()
        guard stat(self.path, &status) == 0 else {
            throw StoreError(errno: errno, "cannot read its attributes", self.path)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw StoreError(.io, "\(self.path): not a directory") }
        guard status.st_mode & 0o022 == 0 else {
            throw StoreError(
                .permission, "\(self.path): writable by other users; run: chmod 700 \(self.path)")
        }
    }

    /// Creates the database file before SQLite does, because SQLite gives its log files the mode of that file.
    func prepareDatabaseFile() throws(StoreError) {
        let path = self.databasePath
        close(try StoreFile.open(path, O_RDWR | O_CREAT, "cannot open the database"))
        try StoreFile.synchronizeDirectory(of: path)
    }
}
