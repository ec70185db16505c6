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
        try Self.create(self.path)
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

    private static func create(_ path: String) throws(StoreError) {
        var partial = path.hasPrefix("/") ? "" : "."
        for part in path.split(separator: "/") {
            partial += "/\(part)"
            guard mkdir(partial, 0o700) != 0, errno != EEXIST else { continue }
            // Above a mount point or a home directory, mkdir may refuse before it checks whether the directory exists.
            let reason = errno
            guard access(partial, F_OK) != 0 else { continue }
            throw StoreError(errno: reason, "cannot create the directory", partial)
        }
    }

    /// Creates the database file before SQLite does, because SQLite gives its log files the mode of that file.
    func prepareDatabaseFile() throws(StoreError) {
        let path = self.databasePath
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreError(errno: errno, "cannot open the database", path) }
        defer { close(descriptor) }
        guard fchmod(descriptor, 0o600) == 0 else { throw StoreError(errno: errno, "cannot set mode 0600", path) }
        try PrivateFile.synchronizeDirectory(of: path)
    }
}
