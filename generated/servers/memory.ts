// Made by pimcp from the tools of "memory". Do not edit; run `pimcp compile`.
/* eslint-disable */

import { type CallOptions, client, type ToolResult } from "pimcp/codegen/v1";

export interface AddObservationsInput {
  observations: {
    /** An array of observation contents to add */
    contents: string[];
    /** The name of the entity to add the observations to */
    entityName: string;
  }[];
}

export interface AddObservationsOutput {
  results: {
    addedObservations: string[];
    entityName: string;
  }[];
}

export interface CreateEntitiesInput {
  entities: {
    /** The type of the entity */
    entityType: string;
    /** The name of the entity */
    name: string;
    /** An array of observation contents associated with the entity */
    observations: string[];
  }[];
}

export interface CreateEntitiesOutput {
  entities: {
    /** The type of the entity */
    entityType: string;
    /** The name of the entity */
    name: string;
    /** An array of observation contents associated with the entity */
    observations: string[];
  }[];
}

export interface CreateRelationsInput {
  relations: {
    /** The name of the entity where the relation starts */
    from: string;
    /** The type of the relation */
    relationType: string;
    /** The name of the entity where the relation ends */
    to: string;
  }[];
}

export interface CreateRelationsOutput {
  relations: {
    /** The name of the entity where the relation starts */
    from: string;
    /** The type of the relation */
    relationType: string;
    /** The name of the entity where the relation ends */
    to: string;
  }[];
}

export interface DeleteEntitiesInput {
  /** An array of entity names to delete */
  entityNames: string[];
}

export interface DeleteEntitiesOutput {
  message: string;
  success: boolean;
}

export interface DeleteObservationsInput {
  deletions: {
    /** The name of the entity containing the observations */
    entityName: string;
    /** An array of observations to delete */
    observations: string[];
  }[];
}

export interface DeleteObservationsOutput {
  message: string;
  success: boolean;
}

export interface DeleteRelationsInput {
  /** An array of relations to delete */
  relations: {
    /** The name of the entity where the relation starts */
    from: string;
    /** The type of the relation */
    relationType: string;
    /** The name of the entity where the relation ends */
    to: string;
  }[];
}

export interface DeleteRelationsOutput {
  message: string;
  success: boolean;
}

export interface OpenNodesInput {
  /** An array of entity names to retrieve */
  names: string[];
}

export interface OpenNodesOutput {
  entities: {
    /** The type of the entity */
    entityType: string;
    /** The name of the entity */
    name: string;
    /** An array of observation contents associated with the entity */
    observations: string[];
  }[];
  relations: {
    /** The name of the entity where the relation starts */
    from: string;
    /** The type of the relation */
    relationType: string;
    /** The name of the entity where the relation ends */
    to: string;
  }[];
}

export interface ReadGraphInput {
  [k: string]: unknown;
}

export interface ReadGraphOutput {
  entities: {
    /** The type of the entity */
    entityType: string;
    /** The name of the entity */
    name: string;
    /** An array of observation contents associated with the entity */
    observations: string[];
  }[];
  relations: {
    /** The name of the entity where the relation starts */
    from: string;
    /** The type of the relation */
    relationType: string;
    /** The name of the entity where the relation ends */
    to: string;
  }[];
}

export interface SearchNodesInput {
  /** The search query to match against entity names, types, and observation content */
  query: string;
}

export interface SearchNodesOutput {
  entities: {
    /** The type of the entity */
    entityType: string;
    /** The name of the entity */
    name: string;
    /** An array of observation contents associated with the entity */
    observations: string[];
  }[];
  relations: {
    /** The name of the entity where the relation starts */
    from: string;
    /** The type of the relation */
    relationType: string;
    /** The name of the entity where the relation ends */
    to: string;
  }[];
}

/** A knowledge graph that outlives a session */
export interface Memory {
  /**
   * Add Observations
   *
   * Add new observations to existing entities in the knowledge graph
   */
  addObservations(args: AddObservationsInput, options?: CallOptions): Promise<ToolResult<AddObservationsOutput>>;

  /**
   * Create Entities
   *
   * Create multiple new entities in the knowledge graph
   */
  createEntities(args: CreateEntitiesInput, options?: CallOptions): Promise<ToolResult<CreateEntitiesOutput>>;

  /**
   * Create Relations
   *
   * Create multiple new relations between entities in the knowledge graph. Relations should be in active voice
   */
  createRelations(args: CreateRelationsInput, options?: CallOptions): Promise<ToolResult<CreateRelationsOutput>>;

  /**
   * Delete Entities
   *
   * Delete multiple entities and their associated relations from the knowledge graph
   */
  deleteEntities(args: DeleteEntitiesInput, options?: CallOptions): Promise<ToolResult<DeleteEntitiesOutput>>;

  /**
   * Delete Observations
   *
   * Delete specific observations from entities in the knowledge graph
   */
  deleteObservations(args: DeleteObservationsInput, options?: CallOptions): Promise<ToolResult<DeleteObservationsOutput>>;

  /**
   * Delete Relations
   *
   * Delete multiple relations from the knowledge graph
   */
  deleteRelations(args: DeleteRelationsInput, options?: CallOptions): Promise<ToolResult<DeleteRelationsOutput>>;

  /**
   * Open Nodes
   *
   * Open specific nodes in the knowledge graph by their names
   */
  openNodes(args: OpenNodesInput, options?: CallOptions): Promise<ToolResult<OpenNodesOutput>>;

  /**
   * Read Graph
   *
   * Read the entire knowledge graph
   */
  readGraph(args?: ReadGraphInput, options?: CallOptions): Promise<ToolResult<ReadGraphOutput>>;

  /**
   * Search Nodes
   *
   * Search for nodes in the knowledge graph based on a query
   */
  searchNodes(args: SearchNodesInput, options?: CallOptions): Promise<ToolResult<SearchNodesOutput>>;
}

export const memory: Memory = /* @__PURE__ */ client<Memory>(import.meta.url, "memory", {
  addObservations: "add_observations",
  createEntities: "create_entities",
  createRelations: "create_relations",
  deleteEntities: "delete_entities",
  deleteObservations: "delete_observations",
  deleteRelations: "delete_relations",
  openNodes: "open_nodes",
  readGraph: "read_graph",
  searchNodes: "search_nodes",
});
