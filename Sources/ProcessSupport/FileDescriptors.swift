#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Facts about open descriptors, for modules where the members of `stat` are not visible beside Dispatch.
package enum FileDescriptors {
    /// Returns whether a descriptor is open on a regular file.
    package static func isRegularFile(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }
}
