import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// An exclusive lock on writing in a state directory.
///
/// Held until ``release()``, or until the value is released or the process ends, for whatever reason.
package final class StateDirectoryLock: Sendable {
    private let descriptor: Mutex<Int32?>

    /// Acquires the lock. If another process holds it, throws `StoreError.Code.locked` with the holder's process id,
    /// host, program, start and command.
    ///
    /// - Parameters:
    ///   - file: the name of the lock file; each name is a separate lock.
    ///   - program: the holder's name in other processes' errors.
    package init(directory: String, file: String = "lock", program: String) throws(StoreError) {
        let path = "\(directory)/\(file)"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreError(errno: errno, "cannot open the lock file", path) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let reason = errno
            let holder = LockHolder(reading: descriptor)
            close(descriptor)
            guard reason == EWOULDBLOCK else { throw StoreError(errno: reason, "cannot lock", path) }
            throw StoreError(
                .locked, "\(directory): in use by \(holder); end that process, or give this one another directory")
        }
        let line = LockHolder.bytes(program: program)
        guard ftruncate(descriptor, 0) == 0, pwrite(descriptor, line, line.count, 0) == line.count else {
            let reason = errno
            flock(descriptor, LOCK_UN)
            close(descriptor)
            throw StoreError(errno: reason, "cannot write the lock file", path)
        }
        self.descriptor = Mutex(descriptor)
    }

    deinit { self.release() }

    /// Releases the lock. A second call does nothing.
    ///
    /// Unlocks before closing: a child that this process has forked but that has not yet called exec shares the
    /// lock, and would keep it for that moment.
    package func release() {
        self.descriptor.withLock { descriptor in
            if let open = descriptor {
                flock(open, LOCK_UN)
                close(open)
            }
            descriptor = nil
        }
    }

    /// Returns a description of the process that holds a directory's lock; nil if absent, or it cannot be
    /// determined.
    ///
    /// Acquires a shared lock for a moment: a program that starts in that moment finds the directory locked.
    package static func holder(of directory: String) -> String? {
        let descriptor = open("\(directory)/lock", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_SH | LOCK_NB) != 0 else {
            flock(descriptor, LOCK_UN)
            return nil
        }
        guard errno == EWOULDBLOCK else { return nil }
        return LockHolder(reading: descriptor).description
    }
}
