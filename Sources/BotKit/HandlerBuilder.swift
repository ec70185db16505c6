/// Builds a bot's list of handlers; supports `if`, `if else`, `switch` and `for`.
@resultBuilder
public enum HandlerBuilder {
    /// Adds a handler such as ``OnCommand``.
    public static func buildExpression(_ declaration: some HandlerDeclaration) -> [Handler] { [declaration.handler] }
    /// Adds a list of handlers built elsewhere.
    public static func buildExpression(_ handlers: [Handler]) -> [Handler] { handlers }
    /// Joins the statements of a block.
    public static func buildBlock(_ parts: [Handler]...) -> [Handler] { Array(parts.joined()) }
    /// Supports `if` without `else`.
    public static func buildOptional(_ part: [Handler]?) -> [Handler] { part ?? [] }
    /// Supports the first branch of `if else` and `switch`.
    public static func buildEither(first part: [Handler]) -> [Handler] { part }
    /// Supports the second branch of `if else` and `switch`.
    public static func buildEither(second part: [Handler]) -> [Handler] { part }
    /// Supports `for` loops.
    public static func buildArray(_ parts: [[Handler]]) -> [Handler] { Array(parts.joined()) }
}
